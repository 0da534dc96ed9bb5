package main

import "github.com/spf13/cobra"

func newMCPInstall(g *globals) *cobra.Command { return &cobra.Command{Use: "install"} }
