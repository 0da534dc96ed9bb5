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

// One traditional character became several, or one thing is written with several: both sides meet.
func TestVariantsAreOne(t *testing.T) {
	for _, class := range []string{
		"帳帐账賬", "瞭了", "藉借", "著着", "衞衛卫", "傢家", "俱具", "畫画划劃", "覆復複复", "裡裏里", "台臺檯颱枱", "髮發发", "乾幹干", "麵麪面",
		"餘余馀", "鐘鍾钟锺", "隻只祇衹", "綫線线", "羣群", "峯峰", "汙污汚", "覈核", "佈布", "慾欲", "週周", "後后", "徵征", "鬆松", "製制",
		"鍊鏈链", "麼么", "託托", "妳你", "牠祂它", "銲焊", "砲炮", "廻迴回", "啟啓启", "菸煙烟", "纔才", "黒黑", "戸戶户",
	} {
		runes := []rune(class)
		for _, r := range runes {
			if Simplify(r) != Simplify(runes[0]) {
				t.Errorf("%c is not %c: %c, %c", r, runes[0], Simplify(r), Simplify(runes[0]))
			}
		}
	}
	for _, other := range []string{"账涨", "已己", "未末", "练链", "请清", "订定", "登录", "像象", "做作", "的地得"} {
		runes := []rune(other)
		for _, r := range runes[1:] {
			if Simplify(r) == Simplify(runes[0]) {
				t.Errorf("%c is %c", r, runes[0])
			}
		}
	}
}

// Folding 帐 does not make its author one of Taiwan.
func TestTraditional(t *testing.T) {
	for _, r := range "帳賬計畫複於" {
		if !Traditional(r) {
			t.Errorf("%c is traditional", r)
		}
	}
	for _, r := range "帐账划画复覆具俱链炼着著借藉只a9，" {
		if Traditional(r) {
			t.Errorf("%c is written on the mainland", r)
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
