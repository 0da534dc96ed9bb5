package main

import (
	"fmt"
	"strings"

	"knowledged/service"
)

// installPlan is what `service install --dry-run --json` says.
type installPlan struct {
	Files   []plannedFile `json:"files"`
	Folders []string      `json:"folders"` // made, if missing
	Run     [][]string    `json:"run"`     // commands with their arguments, in order
	Notes   []string      `json:"notes"`
}

type plannedFile struct {
	Path string `json:"path"`
	Kept bool   `json:"kept"` // written only if it is missing
	Text string `json:"text"`
}

func planReport(p *service.Plan) installPlan {
	r := installPlan{Files: []plannedFile{}, Folders: []string{}, Run: append(append([][]string{}, p.Before...), p.After...), Notes: append([]string{}, p.Notes...)}
	for _, f := range planned(p) {
		r.Files = append(r.Files, plannedFile{f.Path, f.Kept, f.Text})
	}
	for _, f := range p.Folders {
		r.Folders = append(r.Folders, f.Path)
	}
	return r
}

// planned are all files, the unit last.
func planned(p *service.Plan) []service.File {
	if p.Unit.Path == "" {
		return p.Files
	}
	return append(p.Files[:len(p.Files):len(p.Files)], p.Unit)
}

func printPlan(g *globals, p *service.Plan, whole bool) {
	for _, f := range planned(p) {
		if whole {
			fmt.Fprintf(g.io.out, "==> %s\n%s\n\n", f.Path, strings.TrimRight(f.Text, "\n"))
			continue
		}
		what := "write"
		if f.Kept {
			what = "write, if it is missing"
		}
		fmt.Fprintf(g.io.out, "%s %s\n", what, f.Path)
	}
	if whole {
		return
	}
	for _, args := range p.Before {
		fmt.Fprintf(g.io.out, "run %s\n", strings.Join(args, " "))
	}
	for _, f := range p.Folders {
		fmt.Fprintf(g.io.out, "make, if it is missing, %s/\n", f.Path)
	}
	for _, args := range p.After {
		fmt.Fprintf(g.io.out, "run %s\n", strings.Join(args, " "))
	}
	if p.Unit.Path != "" {
		fmt.Fprintln(g.io.out, "enable the service")
	}
}

func printState(g *globals, st service.State, user bool) {
	fmt.Fprintf(g.io.out, "service:   %s\n", st.State)
	if !st.Installed {
		return
	}
	if st.StatusText != "" && st.Running {
		fmt.Fprintf(g.io.out, "daemon:    %s\n", st.StatusText)
	}
	if st.PID > 0 {
		fmt.Fprintf(g.io.out, "process:   %d since %s; %d restarts\n", st.PID, st.Since, st.Restarts)
	}
	fmt.Fprintf(g.io.out, "enabled:   %t\nlistening: %t\nunit:      %s\n", st.Enabled, st.Listening, st.Unit)
	if !st.Running {
		fmt.Fprintf(g.io.out, "logs:      journalctl%s --unit knowledged --lines 20 --output cat\n", userFlag(user))
	}
}
