/** A header that requests get which have none of its name. */
export interface HeaderRule {
  readonly name: string;
  readonly value: string;
}

/** Where HAProxy listens, and what becomes of what comes there. */
export interface Frontend {
  /** Its line `bind`, and where that stands. */
  readonly bind: string;
  readonly at: string;
  readonly mode: 'http' | 'tcp';
  readonly port: number;
  /** Files of TLS; absent: without. */
  readonly certificate?: string;
  readonly key?: string;
  /** The path that it answers itself. */
  readonly monitor: string | undefined;
  readonly headers: readonly HeaderRule[];
  /** Whether servers are told the address of the client. */
  readonly forwardedFor: boolean;
  readonly server: { readonly host: string; readonly port: number };
}

/** What HAProxy says of a configuration that it does not take. */
export class HaproxyError extends Error {
  override readonly name = 'HaproxyError';
}

/** Keywords that this HAProxy knows, by section; others it refuses, as the real one does those that it does not know. */
const known: Readonly<Record<string, string>> = {
  global:
    'log maxconn nbthread hard-stop-after tune.bufsize tune.http.maxhdr ssl-load-extra-del-ext ssl-default-bind-options',
  defaults: 'mode log option timeout',
  frontend: 'bind monitor-uri http-request default_backend',
  backend: 'server',
};

interface Line {
  readonly section: string;
  /** Name of a frontend or a backend. */
  readonly of: string;
  readonly keyword: string;
  readonly words: string;
  readonly at: string;
}

/** @throws HaproxyError */
function linesOf(text: string, file: string): readonly Line[] {
  let [section, of] = ['', ''];
  return text.split('\n').flatMap((written, index) => {
    const [keyword = '', ...words] = written.trim().split(/\s+/u);
    const at = `${file}:${index + 1}`;
    if (keyword === '' || keyword.startsWith('#')) return [];
    if (Object.hasOwn(known, keyword)) {
      [section, of] = [keyword, words[0] ?? ''];
      return [];
    }
    if (known[section]?.split(' ').includes(keyword) !== true)
      throw new HaproxyError(`parsing [${at}] : unknown keyword '${keyword}' in '${section}' section`);
    return [{ section, of, keyword, words: words.join(' '), at }];
  });
}

/**
 * Reads a configuration, as far as it leads from ports to servers.
 * @throws HaproxyError
 */
export function readHaproxy(text: string, file: string): readonly Frontend[] {
  const lines = linesOf(text, file);
  const all = (section: string, keyword: string, of?: string) =>
    lines.filter(
      (line) => line.section === section && line.keyword === keyword && (of === undefined || line.of === of),
    );
  const options = all('defaults', 'option').map(({ words }) => words);
  const withoutExtension = all('global', 'ssl-load-extra-del-ext').length > 0;
  const mode = all('defaults', 'mode').at(-1)?.words === 'http' ? 'http' : 'tcp';
  return all('frontend', 'bind').map(({ words, of, at }) => {
    const [, port, certificate] = /^\*:(\d+)(?: ssl crt (\S+)(?: alpn \S+)?)?$/u.exec(words) ?? [];
    if (port === undefined) throw new HaproxyError(`parsing [${at}] : this simulated haproxy does not know '${words}'`);
    const backend = all('frontend', 'default_backend', of).at(-1)?.words;
    const [, host = '', to] =
      /^\S+ (\S+):(\d+)$/u.exec(all('backend', 'server', backend ?? '').at(-1)?.words ?? '') ?? [];
    if (to === undefined)
      throw new HaproxyError(`Proxy '${of}': unable to find required default_backend: '${backend ?? ''}'.`);
    return {
      bind: `bind ${words.split(' ')[0]}`,
      at,
      mode,
      port: Number(port),
      ...(certificate !== undefined && {
        certificate,
        key: `${withoutExtension ? certificate.replace(/\.[^./]*$/u, '') : certificate}.key`,
      }),
      monitor: all('frontend', 'monitor-uri', of).at(-1)?.words,
      headers: all('frontend', 'http-request', of).map(headerRule),
      forwardedFor: options.includes('forwardfor if-none'),
      server: { host, port: Number(to) },
    };
  });
}

/** @throws HaproxyError */
function headerRule({ words, at }: Line): HeaderRule {
  const [, name, value = ''] = /^set-header (\S+) (\S+) unless \{ req\.hdr\(\1\) -m found \}$/u.exec(words) ?? [];
  if (name === undefined)
    throw new HaproxyError(`parsing [${at}] : this simulated haproxy does not know 'http-request ${words}'`);
  return { name: name.toLowerCase(), value };
}
