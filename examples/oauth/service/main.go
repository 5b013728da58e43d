// Command service shows the tools of a server to which it speaks for itself,
// with a key that is registered at the authorization server.
//
//	CLIENT_ID=reports KEY_FILE=key.pem ISSUER=https://login.example.com service https://mcp.example.com/mcp
package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

func main() {
	key, err := readKey(os.Getenv("KEY_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	auth := &oauth.Client{ID: os.Getenv("CLIENT_ID"), Key: key, Issuer: os.Getenv("ISSUER")}
	connection, err := mcp.Connect(context.Background(), mcp.Server{Name: "example", URL: os.Args[1], Auth: auth})
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	for _, tool := range connection.Tools() {
		fmt.Println(tool.Name)
	}
}

// readKey reads a private key. One in a key management service is a
// crypto.Signer, too.
func readKey(file string) (crypto.Signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the key is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key cannot sign")
	}
	return signer, nil
}
