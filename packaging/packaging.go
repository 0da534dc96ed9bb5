// Package packaging is the texts that an installation consists of: units, accounts, limits and the service's
// configuration. Packages copy these files, and `knowledged service install` writes the same from the binary. It is Go only
// because a Go program can embed nothing from outside its own folder.
//
// What is to be done besides copying (account, folders, their modes, enabling) is the Plan in service/systemd.go; scripts
// of packages do the same. systemd/backoff.conf is for systemd 254 and later alone.
package packaging

import "embed"

// Files are the texts, by their paths here.
//
//go:embed config.yaml launchd sysctl.d systemd sysusers.d tmpfiles.d
var Files embed.FS
