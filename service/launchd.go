package service

import (
	"encoding/xml"
	"path/filepath"
	"strings"
)

// macMarker is the signature in a plist.
const macMarker = "<!-- " + signature + ". -->\n"

// launchdPlan is pure. Nobody has run it on a Mac yet: the plists are checked by what reads them elsewhere.
func (c *Config) launchdPlan() *Plan {
	p := &Plan{Scope: c.scope()}
	plist, file := text("launchd/daemon.plist"), "/Library/LaunchDaemons/"+name+".plist"
	logs := "/usr/local/var/log/knowledged/knowledged.log"
	config := macConfig
	if c.User {
		plist, file = text("launchd/agent.plist"), filepath.Join(c.Home, "Library/LaunchAgents", name+".plist")
		logs, config = filepath.Join(c.Home, "Library/Logs/knowledged.log"), "~/.config/knowledged/config.yaml"
		plist = strings.ReplaceAll(plist, "~/Library/Logs/knowledged.log", xmlText(logs)) // launchd expands no ~
	}
	plist = strings.ReplaceAll(plist, "<string>/usr/local/bin/knowledged</string>", "<string>"+xmlText(c.Binary)+"</string>")
	plist = strings.ReplaceAll(plist, "<string>"+config+"</string>", "<string>"+xmlText(c.ConfigFile)+"</string>")
	p.Unit = File{Path: file, Text: strings.Replace(plist, "<plist ", macMarker+"<plist ", 1)}
	p.Files = []File{{Path: c.ConfigFile, Text: c.config(), Kept: true}}
	owner := ""
	if !c.User {
		owner = "_" + name
		p.Folders = append(p.Folders, Folder{Path: "/usr/local/var/knowledged", Mode: 0o750, Owner: owner})
		p.Notes = append(p.Notes, "the account _knowledged must be there before the start: sysadminctl -addUser _knowledged -roleAccount -UID 498, and a group of that name")
	}
	p.Folders = append(p.Folders, Folder{Path: filepath.Dir(logs), Mode: 0o755, Owner: owner}, Folder{Path: c.Base, Mode: 0o755, Owner: owner})
	p.Leftover = []string{c.ConfigFile, c.Base, logs}
	return p
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
