//go:build unix

// Package tree follows the processes below a server, those included that have
// left its process group, and notices when the server itself exits. On Windows
// a job object does all that.
package tree
