package watcher

import "syscall"

func changeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }

func device(st *syscall.Stat_t) uint64 { return uint64(st.Dev) }
