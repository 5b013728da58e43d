// Command web is a web application that calls tools for each of its users: it
// sends them to the authorization server, and has them come back.
//
//	web localhost:8080 https://mcp.example.com/mcp
package main

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

func main() {
	self, server := "http://"+os.Args[1], os.Args[2]
	// client returns the client for a user, who is a cookie here. The tokens of
	// each are a Store of their own, in a database as a rule.
	client := func(w http.ResponseWriter, r *http.Request) *oauth.Client {
		cookie, err := r.Cookie("session")
		if err != nil {
			cookie = &http.Cookie{Name: "session", Value: rand.Text(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
			http.SetCookie(w, cookie)
		}
		user := fmt.Sprintf("%x", sha256.Sum256([]byte(cookie.Value)))
		return &oauth.Client{Name: "My application", RedirectURL: self + "/callback", Store: oauth.FileStore("tokens/" + user)}
	}
	http.HandleFunc("/tools", func(w http.ResponseWriter, r *http.Request) {
		connection, err := mcp.Connect(r.Context(), mcp.Server{Name: "example", URL: server, Auth: client(w, r)})
		var login *oauth.LoginRequired
		if errors.As(err, &login) && login.Err == nil { // nil: not after a login that failed
			http.Redirect(w, r, login.URL, http.StatusFound)
			return
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer connection.Close()
		for _, tool := range connection.Tools() {
			fmt.Fprintln(w, tool.Name)
		}
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		if err := client(w, r).FinishLogin(r.Context(), server, r.URL.String()); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		http.Redirect(w, r, "/tools", http.StatusFound)
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
