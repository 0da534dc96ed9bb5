// Package config is the daemon's settings: one struct, its defaults, and strict loading from flags, environment and file.
// Every fault is found in one go and told with the place it was written at.
package config

import (
	"time"
)

// Values of settings that the rest of the program compares with.
const (
	BackendEmbedded = "embedded"
	BackendMilvus   = "milvus"
	BackendOff      = "off"

	ProviderBuiltin = "builtin"
	ProviderOpenAI  = "openai"

	HTTPOff    = "off"
	AuthWrites = "writes"
	AuthAll    = "all"

	MilvusWriter = "writer"
	MilvusReader = "reader"
)

// Config mirrors the YAML of API.md. The tag yaml names a setting within its section, enum lists the values it may have,
// path marks a file or folder: `~` expands, and it is relative to the configuration file where it was written there, else
// to the working directory.
type Config struct {
	Knowledge Knowledge `yaml:"knowledge"`
	StateDir  string    `yaml:"state_dir" path:"true"`
	IPC       IPC       `yaml:"ipc"`
	Watch     Watch     `yaml:"watch"`
	Chunker   Chunker   `yaml:"chunker"`
	Lookup    Lookup    `yaml:"lookup"`
	L1        L1        `yaml:"l1"`
	Embedding Embedding `yaml:"embedding"`
	Log       Log       `yaml:"log"`
}

// Knowledge is the folder of documents.
type Knowledge struct {
	BasePath    string      `yaml:"base_path" path:"true"` // absolute once loaded
	MaxFileSize Size        `yaml:"max_file_size"`
	FrontMatter FrontMatter `yaml:"front_matter"`
}

// FrontMatter says what stands in for missing fields.
type FrontMatter struct {
	Fallback bool `yaml:"fallback"`
}

// IPC is the doors to the daemon.
type IPC struct {
	Socket      string `yaml:"socket" path:"true"`
	HTTP        string `yaml:"http"` // host:port or HTTPOff
	HTTPAuth    string `yaml:"http_auth" enum:"writes,all"`
	TokenFile   string `yaml:"token_file" path:"true"`
	AllowRemote bool   `yaml:"allow_remote"`
}

// Watch is how the folder is watched.
type Watch struct {
	Settle         Duration `yaml:"settle"`
	MaxSettle      Duration `yaml:"max_settle"`
	PollInterval   Duration `yaml:"poll_interval"`
	Mode           string   `yaml:"mode" enum:"auto,fsnotify,poll"`
	FollowSymlinks bool     `yaml:"follow_symlinks"`
}

// Chunker is the size of chunks, in characters.
type Chunker struct {
	Target int `yaml:"target"`
	Max    int `yaml:"max"`
}

// Lookup is the policy of answers.
type Lookup struct {
	AlwaysSemantic bool     `yaml:"always_semantic"`
	UniqueMatch    string   `yaml:"unique_match" enum:"trust,verify"`
	TopK           int      `yaml:"top_k"`
	L1TopK         int      `yaml:"l1_top_k"`
	Candidates     int      `yaml:"candidates"`
	L1Timeout      Duration `yaml:"l1_timeout"`
	MinScore       Score    `yaml:"min_score"`
	Fusion         Fusion   `yaml:"fusion"`
}

// Fusion is how rankings become one.
type Fusion struct {
	Method string       `yaml:"method" enum:"score,rrf"`
	RRF    RRF          `yaml:"rrf"`
	Score  ScoreWeights `yaml:"score"`
}

// RRF is reciprocal rank fusion: weight / (K + rank).
type RRF struct {
	K        float64 `yaml:"k"`
	Exact    float64 `yaml:"exact"`
	Fulltext float64 `yaml:"fulltext"`
	Semantic float64 `yaml:"semantic"`
}

// ScoreWeights weigh full text and soft match against similarity, which weighs 1.
type ScoreWeights struct {
	Fulltext float64 `yaml:"fulltext"`
	Soft     float64 `yaml:"soft"`
}

// L1 is the semantic index.
type L1 struct {
	Backend string `yaml:"backend" enum:"embedded,milvus,off"`
	Milvus  Milvus `yaml:"milvus"`
}

// Milvus is where vectors are kept with l1.backend: milvus.
type Milvus struct {
	Address      string `yaml:"address"`
	Username     string `yaml:"username"`
	PasswordFile string `yaml:"password_file" path:"true"`
	TokenFile    string `yaml:"token_file" path:"true"`
	Database     string `yaml:"database"`
	Collection   string `yaml:"collection"`
	TLS          bool   `yaml:"tls"`
	CAFile       string `yaml:"ca_file" path:"true"`
	Role         string `yaml:"role" enum:"writer,reader"`
	Consistency  string `yaml:"consistency" enum:"bounded,strong,session,eventually"`
}

// Embedding is what turns text into vectors.
type Embedding struct {
	Provider string `yaml:"provider" enum:"builtin,openai"`
	OpenAI   OpenAI `yaml:"openai"`
}

// OpenAI is an OpenAI-compatible server of embeddings.
type OpenAI struct {
	BaseURL        string         `yaml:"base_url"`
	Model          string         `yaml:"model"`
	APIKeyFile     string         `yaml:"api_key_file" path:"true"`
	Dimensions     int            `yaml:"dimensions"` // 0: as the model has
	Batch          int            `yaml:"batch"`
	Timeout        Duration       `yaml:"timeout"`
	QueryPrefix    string         `yaml:"query_prefix"`
	DocumentPrefix string         `yaml:"document_prefix"`
	QueryBody      map[string]any `yaml:"query_body"` // more fields of the request for a query
	DocumentBody   map[string]any `yaml:"document_body"`
}

// Log is what is logged, and how.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error"`
	Format string `yaml:"format" enum:"auto,text,json"`
}

// Default returns the settings of an empty file, before paths are resolved.
func Default() Config {
	return Config{
		Knowledge: Knowledge{BasePath: "knowledge_base/", MaxFileSize: 8 << 20, FrontMatter: FrontMatter{Fallback: true}},
		IPC:       IPC{HTTP: "127.0.0.1:7420", HTTPAuth: AuthWrites},
		Watch: Watch{
			Settle: Duration(30 * time.Millisecond), MaxSettle: Duration(500 * time.Millisecond),
			PollInterval: Duration(30 * time.Second), Mode: "auto",
		},
		Chunker: Chunker{Target: 800, Max: 1600},
		Lookup: Lookup{
			UniqueMatch: "trust", TopK: 5, L1TopK: 3, Candidates: 90, L1Timeout: Duration(400 * time.Millisecond),
			Fusion: Fusion{
				Method: "score",
				RRF:    RRF{K: 60, Exact: 1, Fulltext: 1, Semantic: 1},
				Score:  ScoreWeights{Fulltext: 1.5, Soft: .75},
			},
		},
		L1: L1{
			Backend: BackendEmbedded,
			Milvus:  Milvus{Address: "127.0.0.1:19530", Database: "default", Collection: "knowledged", Role: MilvusWriter, Consistency: "bounded"},
		},
		Embedding: Embedding{
			Provider: ProviderBuiltin,
			OpenAI: OpenAI{
				BaseURL: "http://127.0.0.1:11434/v1", Model: "bge-m3", Batch: 32, Timeout: Duration(30 * time.Second),
				QueryBody: map[string]any{}, DocumentBody: map[string]any{},
			},
		},
		Log: Log{Level: "info", Format: "auto"},
	}
}
