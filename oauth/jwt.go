package oauth

// This file signs JWTs.

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"
)

// assertionTime is how long an assertion is good for.
const assertionTime = time.Minute

// algorithm returns the first algorithm of a key that is supported; empty if
// that is not said of any.
func algorithm(key crypto.Signer, supported []string) string {
	for _, a := range cryptosigner.Opaque(key).Algs() {
		if slices.Contains(supported, string(a)) {
			return string(a)
		}
	}
	return ""
}

// newSigner returns what signs with a key, by the algorithm, or if that is none
// of the key's, by the one that most take: of RSA, RS256.
func newSigner(key crypto.Signer, algorithm string, options *jose.SignerOptions) (jose.Signer, error) {
	opaque := cryptosigner.Opaque(key)
	algorithms := opaque.Algs()
	if len(algorithms) == 0 {
		return nil, fmt.Errorf("oauth: a key of type %T cannot sign", key.Public())
	}
	n := max(0, slices.Index(algorithms, jose.SignatureAlgorithm(algorithm)))
	return jose.NewSigner(jose.SigningKey{Algorithm: algorithms[n], Key: opaque}, options)
}

func sign(signer jose.Signer, claims map[string]any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signature, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("signing an assertion: %w", err)
	}
	return signature.CompactSerialize()
}

// clientAssertion says who a client is (RFC 7523, section 2.2). The audience is
// the issuer alone: an endpoint could be that of another server.
func clientAssertion(key crypto.Signer, keyID string, t terms) (string, error) {
	options := new(jose.SignerOptions).WithType("JWT")
	if keyID != "" {
		options.WithHeader("kid", keyID)
	}
	signer, err := newSigner(key, t.Client.Algorithm, options)
	if err != nil {
		return "", err
	}
	now := time.Now()
	return sign(signer, map[string]any{
		"iss": t.Client.ID, "sub": t.Client.ID, "aud": t.Issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionTime).Unix(),
	})
}

// newProofKey makes a key that tokens are bound to (RFC 9449).
func newProofKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// A prover proves that who sends a request has the key.
type prover struct {
	pkcs8  []byte
	signer jose.Signer
}

func newProver(pkcs8 []byte) (*prover, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(pkcs8)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("oauth: the stored key cannot be read")
	}
	signer, err := newSigner(key, "", (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	return &prover{pkcs8, signer}, err
}

func (p *prover) prove(method string, u *url.URL, nonce, token string) (string, error) {
	claims := map[string]any{
		"jti": rand.Text(), "htm": method, "iat": time.Now().Unix(),
		"htu": (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String(),
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return sign(p.signer, claims)
}

// sentNonce returns the nonce of the proof in a request.
func sentNonce(req *http.Request) string {
	_, payload, _ := strings.Cut(req.Header.Get("DPoP"), ".")
	payload, _, _ = strings.Cut(payload, ".")
	text, _ := base64.RawURLEncoding.DecodeString(payload)
	var claims struct{ Nonce string }
	json.Unmarshal(text, &claims) // of a proof of this package
	return claims.Nonce
}
