package oauth_test

import (
	"context"
	"crypto"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// A program on the machine of its user. Where there is no browser the user
// opens the URL elsewhere, and pastes the one that they end up at.
func ExampleClient_person() {
	config, _ := os.UserConfigDir()
	auth := &oauth.Client{
		Name:  "My agent",
		Store: oauth.FileStore(filepath.Join(config, "my-agent", "mcp")),
		Open: func(ctx context.Context, url string) (string, error) {
			fmt.Println("Please log in at", url)
			return oauth.OpenBrowser(ctx, url)
		},
	}
	for _, url := range []string{"https://mcp.linear.app/mcp", "https://mcp.notion.com/mcp"} {
		_ = mcp.Server{Name: "one-of-many", URL: url, Auth: auth}
	}
}

// A service with a key, and a workload with the token of its platform.
func ExampleClient_service() {
	var key crypto.Signer // from a file, or a key management service
	_ = &oauth.Client{ID: "reports", Key: key, Issuer: "https://login.example.com"}
	_ = &oauth.Client{Issuer: "https://login.example.com", Assertion: func(context.Context, string, string) (string, error) {
		token, err := os.ReadFile("/var/run/secrets/tokens/mcp")
		return string(token), err
	}}
}

// The users of an organization, whose identity provider decides what a program
// may use for them: they sign in to the program, and to no server besides.
func ExampleEnterprise() {
	idToken := func(context.Context) (string, error) { return "", nil } // of the user's session
	provider := &oauth.Enterprise{Issuer: "https://idp.example.com", ID: "agent", Secret: os.Getenv("IDP_SECRET"), IDToken: idToken}
	_ = &oauth.Client{ID: "agent", Secret: os.Getenv("SECRET"), Issuer: "https://login.example.com", Assertion: provider.Assertion}
}

// A web application with many users.
func ExampleClient_web() {
	var db *sql.DB
	const server = "https://mcp.linear.app/mcp"
	client := func(user string) *oauth.Client {
		return &oauth.Client{
			ID:          "https://app.example.com/client.json",
			RedirectURL: "https://app.example.com/callback",
			Store:       tokens{db, user},
		}
	}
	http.HandleFunc("/connect", func(w http.ResponseWriter, r *http.Request) {
		var login *oauth.LoginRequired
		err := client(userOf(r)).Login(r.Context(), server)
		if errors.As(err, &login) {
			http.Redirect(w, r, login.URL, http.StatusFound)
		}
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		err := client(userOf(r)).FinishLogin(r.Context(), server, r.URL.String())
		fmt.Fprintln(w, err == nil)
	})
}

func userOf(*http.Request) string { return "" }

// tokens keeps the tokens of a user in a table.
type tokens struct {
	db   *sql.DB
	user string
}

func (t tokens) Update(ctx context.Context, server string, f func([]byte) ([]byte, error)) error {
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `INSERT INTO tokens VALUES ($1, $2, '') ON CONFLICT DO NOTHING`, t.user, server); err != nil {
		return err
	}
	var old []byte
	if err := tx.QueryRowContext(ctx, `SELECT value FROM tokens WHERE "user" = $1 AND server = $2 FOR UPDATE`, t.user, server).Scan(&old); err != nil {
		return err
	}
	now, err := f(old)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE tokens SET value = $3 WHERE "user" = $1 AND server = $2`, t.user, server, now); err != nil {
		return err
	}
	return tx.Commit()
}
