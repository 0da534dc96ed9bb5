package hanzi

import (
	"strings"
	"testing"

	"github.com/longbridgeapp/opencc"
)

func simplify(s string) string { return strings.Map(Simplify, s) }

// SPEC 2.2, tx-trad-simp: a search engine in China finds either script by the other.
func TestSimplify(t *testing.T) {
	for in, want := range map[string]string{
		"資料庫連線逾時":    "资料库连线逾时",
		"數據庫連接超時":    "数据库连接超时",
		"支付網關 ERR_1": "支付网关 ERR_1",
		"裡裏里":        "里里里",
		"𠁞𡃄":         "𠀾𪡺",
		"":           "",
	} {
		if got := simplify(in); got != want {
			t.Errorf("Simplify(%q) = %q, want %q", in, got, want)
		}
	}
	for _, s := range []string{"数据库连接超时", "カタカナとひらがな", "한국어", "ASCII ~!@", "ß Ω é", "😀", "，。"} {
		if got := simplify(s); got != s {
			t.Errorf("Simplify(%q) = %q, want it as it is", s, got)
		}
	}
}

func TestSimplifyTwiceChangesNothing(t *testing.T) {
	for r := rune(0); r < 0x40000; r++ {
		if once := Simplify(r); Simplify(once) != once {
			t.Errorf("%c becomes %c and that %c: two spellings of one text would differ", r, once, Simplify(once))
		}
	}
}

// opencc is the reference; what it knows of phrases is for reading, not for comparing.
func TestSimplifyAgreesWithOpenCC(t *testing.T) {
	cc, err := opencc.New("t2s")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"記憶體不足導致服務無法啟動，請檢查設定檔與環境變數", "憑證過期後用戶端無法連線", "訊息佇列積壓處理手冊", "雲端儲存空間已滿",
		"這個錯誤通常發生在網路逾時或伺服器過載的時候", "請確認應用程式介面的權限與存取金鑰", "備份還原步驟", "執行緒鎖死與效能調校",
	} {
		want, err := cc.Convert(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := simplify(s); got != want {
			t.Errorf("Simplify(%q) = %q, opencc says %q", s, got, want)
		}
	}
}

func TestRegional(t *testing.T) {
	have := map[Pair]bool{}
	for _, p := range Regional() {
		have[p] = true
		if p.Mainland == "" || p.Taiwan == "" || p.Mainland == p.Taiwan || simplify(p.Mainland) != p.Mainland || simplify(p.Taiwan) != p.Taiwan {
			t.Errorf("odd pair %q", p)
		}
	}
	for _, p := range []Pair{{"数据库", "资料库"}, {"软件", "软体"}, {"服务器", "伺服器"}, {"内存", "记忆体"}} {
		if !have[p] {
			t.Errorf("%q is missing", p)
		}
	}
}

func BenchmarkSimplify(b *testing.B) {
	text := "資料庫連線逾時數據庫连接超时"
	for b.Loop() {
		for _, r := range text {
			Simplify(r)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load()
	}
}
