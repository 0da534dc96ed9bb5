package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path"
	"slices"
)

// The part of SARIF 2.1.0 that code hosts read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string       `json:"id"`
		Short         sarifText    `json:"shortDescription"`
		Full          sarifText    `json:"fullDescription"`
		Help          sarifText    `json:"help"`
		Configuration sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level Severity `json:"level"` // SARIF's levels have the names of ours
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        Severity          `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       *int          `json:"id,omitempty"` // of a related location
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// WriteSARIF writes the report for code hosts. root is put in front of all paths: the base folder, best relative to the
// root of the repository.
func WriteSARIF(w io.Writer, r Report, root, version string) error {
	driver := sarifDriver{Name: "knowledged lint", Version: version}
	for _, rule := range Rules {
		driver.Rules = append(driver.Rules, sarifRule{
			ID: rule.ID, Short: sarifText{rule.Short}, Full: sarifText{rule.Short + ". " + rule.Why}, Help: sarifText{rule.Fix},
			Configuration: sarifDefault{rule.Severity},
		})
	}
	results := []sarifResult{}
	for _, f := range r.Findings {
		result := sarifResult{
			RuleID: f.Rule, RuleIndex: slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == f.Rule }), Level: f.Severity,
			Message:      sarifText{f.Message + ". " + f.Fix},
			Locations:    []sarifLocation{{Physical: physical(root, f.Location)}},
			Fingerprints: map[string]string{"finding/v1": fingerprint(f)},
		}
		for i, rel := range f.Related {
			result.Related = append(result.Related, sarifLocation{ID: &i, Physical: physical(root, rel.Location), Message: &sarifText{rel.Message}})
		}
		results = append(results, result)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: results}},
	})
}

func physical(root string, l Location) sarifPhysical {
	p := sarifPhysical{Artifact: sarifArtifact{URI: uri(path.Join(root, l.Path))}}
	if l.Line > 0 {
		p.Region = &sarifRegion{l.Line, l.Column}
	}
	return p
}

// uri is a relative reference, or a file: address of an absolute path.
func uri(p string) string {
	u := url.URL{Path: p}
	switch {
	case path.IsAbs(p):
		u.Scheme = "file"
	case len(p) > 2 && p[1:3] == ":/": // Windows
		u.Scheme, u.Path = "file", "/"+p
	}
	return u.String()
}

// fingerprint recognises a finding after lines above it have come or gone.
func fingerprint(f Finding) string {
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Path + "\x00" + f.Message))
	return hex.EncodeToString(sum[:16])
}
