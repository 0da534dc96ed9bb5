# scripts/release.sh fills in the version, the address and the checksums.
class Knowledged < Formula
  desc "Lookups in a folder of Markdown documents, kept hot for people and agents"
  homepage "@URL@"
  version "@VERSION@"

  on_macos do
    on_arm do
      url "@URL@/knowledged_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SHA256_darwin_arm64@"
    end
    on_intel do
      url "@URL@/knowledged_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SHA256_darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/knowledged_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SHA256_linux_arm64@"
    end
    on_intel do
      url "@URL@/knowledged_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SHA256_linux_amd64@"
    end
  end

  def install
    bin.install "knowledged"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/knowledged.bash" => "knowledged"
    zsh_completion.install "completions/knowledged.zsh" => "_knowledged"
    fish_completion.install "completions/knowledged.fish"
    doc.install "NOTICE", "third-party.txt"
    (buildpath/"config.yaml").write <<~YAML
      # Only what differs from the defaults; `knowledged config show` prints those in force.
      knowledge:
        base_path: #{var}/knowledged/knowledge_base
      state_dir: #{var}/knowledged/state
      ipc:
        socket: #{var}/knowledged/run/knowledged.sock
    YAML
    (etc/"knowledged").install "config.yaml" # what is there already stays
  end

  def post_install
    (var/"knowledged/knowledge_base").mkpath
  end

  service do
    run [opt_bin/"knowledged", "run", "--config", etc/"knowledged/config.yaml"]
    keep_alive crashed: true
    log_path var/"log/knowledged.log"
    error_log_path var/"log/knowledged.log"
  end

  def caveats
    <<~TEXT
      Commands find the daemon of `brew services start knowledged` by its configuration:
        knowledged lookup --config #{etc}/knowledged/config.yaml QUERY
    TEXT
  end

  test do
    (testpath/"kb/gift.md").write <<~MD
      ---
      title: Gift cards
      keywords: [GC-7]
      summary: how they work
      ---

      text
    MD
    config = ["--base", testpath/"kb", "--state", testpath/"state", "--socket", testpath/"run/s"]
    daemon = spawn bin/"knowledged", "run", "--http", "off", *config.map(&:to_s)
    system bin/"knowledged", "status", "--wait", "--timeout", "20s", *config
    assert_match "high confidence, unique match", shell_output("#{bin}/knowledged lookup GC-7 #{config.join(" ")}")
  ensure
    Process.kill("TERM", daemon) if daemon
  end
end
