package watcher

import "syscall"

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

func device(st *syscall.Stat_t) uint64 { return st.Dev }
