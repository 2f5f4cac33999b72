import { describe, expect, it } from 'vitest';
import { World } from '../testing/world.ts';
import { baseCommands } from './system-commands.ts';

async function shell(script: string, { dialect = 'sh', args = [] as string[], files = {}, env = {}, stdin = '' } = {}) {
  const container = new World().container({ host: 'c', programs: baseCommands, files, env });
  return container.run([dialect, '-c', script, 'sh', ...args], { stdin });
}

describe('sh', () => {
  it.each([
    ['echo hello   world', 'hello world\n'],
    [`a=1; echo "$a" '$a' \\$a "\${a}2"`, '1 $a $a 12\n'],
    ['echo ${x:-none} ${x-none} ${x:+set}; x=; echo "${x:-empty}" "${x-}"', 'none none\nempty \n'],
    ['f=/a/b.tar.gz; echo ${f%.*} ${f%%.*} ${f##*/} ${f#*/} ${#f}', '/a/b.tar /a/b b.tar.gz a/b.tar.gz 11\n'],
    ['x="a  b"; for i in $x "$x"; do echo "<$i>"; done', '<a>\n<b>\n<a  b>\n'],
    ['echo $(echo a; echo b) `echo c`', 'a b c\n'],
    ['echo $((1 + 2 * 3)) $((7 / 2)); i=1; i=$((i+1)); echo $i', '7 3\n2\n'],
    ['false || echo or; true && echo and; ! false && echo not', 'or\nand\nnot\n'],
    ['if [ -z "$x" ]; then echo empty; elif true; then echo other; else echo no; fi', 'empty\n'],
    ['n=0; while [ $n -lt 3 ]; do n=$((n+1)); [ $n = 2 ] && continue; echo $n; done', '1\n3\n'],
    ['case abc in x*) echo x;; a?c|z) echo match;; *) echo any;; esac', 'match\n'],
    ['f() { local a=2; echo "$a $1 $#"; return 3; }; a=1; f x y; echo $? $a', '2 x 2\n3 1\n'],
    ["cat <<E\na $((1+1)) $HOME\nE\ncat <<'E'\n$HOME\nE", 'a 2 /root\n$HOME\n'],
    ['printf "%s=%d\\n" a 1 b 2', 'a=1\nb=2\n'],
    ['echo "a b c" | while read x y; do echo "$y|$x"; done', 'b c|a\n'],
    [
      'printf "a\\nb\\n" | while read x; do sleep 0; echo "$x"; done; printf "a\\nb\\n" | while read x; do cat; done',
      'a\nb\nb\n',
    ],
    ['printf "b\\na\\n" | sort | head -n 1', 'a\n'],
    ['echo out; echo err >&2; echo both 2>&1 >/dev/null', 'out\nerr\n'],
    ['mkdir -p /tmp/a/b; echo x > /tmp/a/b/f; for d in /tmp/a/*/; do echo $d; done; cat /tmp/a/*/f', '/tmp/a/b/\nx\n'],
    ['(cd /tmp; pwd); pwd; { echo a; echo b; } > /tmp/x; cat /tmp/x', '/tmp\n/\na\nb\n'],
    ['set -- a "b c"; echo $#; for x; do echo "$x"; done; shift; echo "$@"', '2\na\nb c\nb c\n'],
    ['trap "echo bye" EXIT; echo hi', 'hi\nbye\n'],
    ['sleep 5 & P=$!; kill -0 $P && echo alive; wait $P; echo $?', 'alive\n0\n'],
    ['echo secret | sed -e "s/secret/x/" -e "s|x|[&]|"', '[x]\n'],
    [String.raw`printf 'a\nb\n' | sed -z -e 's/\n/\\n/g'`, 'a\\nb\\n'],
    [String.raw`printf '%s' 'a\b' | sed -e 's/\\/\\\\/g' -e 's/\//|/'`, 'a\\\\b\n'],
    ['eval "a=5"; echo $a; export B=1; env | grep ^B=', '5\nB=1\n'],
    ['x=$(exit 3); echo $?', '3\n'],
    ['x=$(exit 3) || y=$?; echo $? $y', '0 3\n'],
    ['ulimit -Sn "$(ulimit -Hn)"; echo $?; ulimit -n 1048576 2>/dev/null; echo $?', '0\n1\n'],
    ['printf "%04X\\n" 5672; ln -s /a /l; readlink /l /etc; echo $?', '1628\n/a\n1\n'],
    ['echo a b > /tmp/f; grep -l a /tmp/f /etc/x 2>/dev/null; grep -h b /tmp/f /tmp/f', '/tmp/f\na b\na b\n'],
    ['timeout 2 sleep 9; echo $?', '124\n'],
    ["echo a,b,c | cut -d, -f2; echo AbC | tr A-Z a-z; echo a.b | tr '.:' '--'", 'b\nabc\na-b\n'],
    ['until [ -S /x ] || [ $((n=n+1)) -gt 2 ]; do sleep .2; done; echo $n', '3\n'],
    ['grep -q kubepods /nowhere 2>/dev/null && exit 1; echo fine', 'fine\n'],
    [
      'df -k --output=size /tmp; echo $(($(df -k --output=size / | tail -n 1) / 1048576))',
      '1K-blocks\n104857600\n100\n',
    ],
    ['df --output=fstype / | tail -n 1', 'xfs\n'],
    [
      'mountpoint -q / && echo yes; mountpoint -q /tmp || echo no; mountpoint -q /nowhere || echo none',
      'yes\nno\nnone\n',
    ],
    ['printf abc | sha256sum', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -\n'],
    ["grep '^MemTotal:' /proc/meminfo | tr -dc 0-9; echo; grep -c '^processor' /proc/cpuinfo", '8388608\n2\n'],
    ['f() { export "A_$1=$(($3 > $2 ? $3 - $2 : 0))"; }; f x 3 7; f y 7 3; env | grep ^A_', 'A_x=4\nA_y=0\n'],
  ])('%s', async (script, output) => {
    expect(await shell(script, { env: { HOME: '/root' } })).toEqual({ status: 0, output });
  });

  it.each([
    ['set -e; false; echo no', 1, ''],
    ['set -e; false || true; if false; then :; fi; ! true; echo yes', 0, 'yes\n'],
    ['set -eu; echo $missing; echo no', 2, 'sh: 1: missing: parameter not set\n'],
    ['nosuch --x; echo $?', 0, 'sh: 1: nosuch: not found\n127\n'],
    ['echo "unterminated', 2, 'sh: 1: Syntax error: Unterminated quoted string\n'],
    ['if true; then echo x', 2, 'sh: 1: Syntax error: end of file unexpected (expecting "fi")\n'],
    ['cat < /missing', 2, 'sh: 1: cannot open /missing: No such file\n'],
    ['echo x > /nowhere/x', 2, 'sh: 1: cannot create /nowhere/x: Directory nonexistent\n'],
    ['set -o pipefail', 2, 'sh: 1: set: Illegal option -o pipefail\n'],
    ['[[ a = a ]]', 127, 'sh: 1: [[: not found\n'],
    [': ${X:?must be set}', 2, 'sh: 1: X: must be set\n'],
    ['exit 7', 7, ''],
    ['mkdir /tmp/a/b', 1, "mkdir: cannot create directory '/tmp/a/b': No such file or directory\n"],
    ['sed "y/a/b/" /dev/null', 2, 'sed: this simulated sed does not know the script y/a/b/\n'],
  ])('%s fails as it should', async (script, status, output) => {
    expect(await shell(script)).toEqual({ status, output });
  });

  it('knows pipefail and here-strings as bash', async () => {
    const script = 'set -euo pipefail; cat <<< "x y"; false | true; echo no';
    expect(await shell(script, { dialect: 'bash' })).toEqual({ status: 1, output: 'x y\n' });
  });

  it('runs script files with their arguments', async () => {
    const container = new World().container({
      host: 'c',
      programs: baseCommands,
      files: { '/s.sh': '#!/bin/sh\necho "$0 $*"\n' },
    });
    expect((await container.run(['sh', '/s.sh', 'a', 'b'])).output).toBe('/s.sh a b\n');
    expect((await container.run(['sh', '-c', '/s.sh c'])).output).toBe('/s.sh c\n');
  });

  it('hands SIGTERM to what it replaced itself with, not to what it waits for', async () => {
    const world = new World();
    const container = world.container({ host: 'c', programs: baseCommands });
    const replaced = container.start(['sh', '-c', 'exec sleep infinity']);
    await world.clock.advance(1000);
    expect(await replaced.stop()).toBe(143);
    const waiting = container.start(['sh', '-c', 'sleep 100; echo after']);
    await world.clock.advance(1000);
    await waiting.stop();
    expect(waiting.output()).toBe('after\n');
  });

  it('runs a TERM trap that kills what runs in the background', async () => {
    const world = new World();
    const container = world.container({ host: 'c', programs: baseCommands });
    const running = container.start([
      'sh',
      '-c',
      'sleep 1000 & P=$!; trap "echo stopping; kill $P" TERM; wait $P; wait $P; echo ended',
    ]);
    await world.clock.advance(1000);
    await running.stop();
    expect(running.output()).toBe('stopping\nended\n');
  });
});
