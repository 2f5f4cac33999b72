/** A directive of nginx: `name arguments;`, or with a block. */
export interface Directive {
  readonly name: string;
  readonly words: readonly string[];
  readonly block: readonly Directive[];
  /** Where it stands, such as `/etc/nginx.conf:3`. */
  readonly at: string;
}

/** What nginx says of a configuration that it does not take, after `nginx: [emerg] `. */
export class NginxError extends Error {
  override readonly name = 'NginxError';
}

/** Directives that this nginx knows; within `map` and `types` anything may stand. */
const known = new Set(
  `pid error_log worker_processes events worker_connections http include default_type types_hash_max_size access_log
  client_body_temp_path proxy_temp_path fastcgi_temp_path uwsgi_temp_path scgi_temp_path sendfile gzip_static server_tokens
  client_max_body_size proxy_buffering proxy_request_buffering proxy_read_timeout proxy_ssl_server_name proxy_ssl_trusted_certificate proxy_ssl_verify proxy_set_header proxy_redirect proxy_pass map
  server listen root index location try_files expires return daemon`.split(/\s+/u),
);

interface Token {
  readonly text: string;
  readonly line: number;
  readonly isQuoted: boolean;
}

/** Parses a file. @throws NginxError */
export function parseNginx(text: string, file: string): readonly Directive[] {
  const tokens = tokensOf(text);
  const end = (): never => {
    throw new NginxError(`unexpected end of file, expecting ";" or "}" in ${file}:${text.split('\n').length}`);
  };
  const directives = (within: string): Directive[] => {
    const found: Directive[] = [];
    for (let token = tokens.shift(); ; token = tokens.shift()) {
      if (token === undefined) return within === '' ? found : end();
      if (isSign(token, '}') && within !== '') return found;
      found.push(directive(token, within));
    }
  };
  const directive = (first: Token, within: string): Directive => {
    const at = `${file}:${first.line}`;
    const { text: name } = first;
    if (within !== 'map' && !known.has(name)) throw new NginxError(`unknown directive "${name}" in ${at}`);
    const words: string[] = [];
    for (let token = tokens.shift() ?? end(); ; token = tokens.shift() ?? end()) {
      if (isSign(token, ';')) return { name, words, block: [], at };
      if (isSign(token, '{')) return { name, words, block: directives(name), at };
      if (isSign(token, '}')) throw new NginxError(`unexpected "}" in ${file}:${token.line}`);
      words.push(token.text);
    }
  };
  return directives('');
}

function isSign({ text, isQuoted }: Token, sign: string): boolean {
  return !isQuoted && text === sign;
}

function tokensOf(text: string): Token[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/#.*|'([^']*)'|"([^"]*)"|[{};]|[^\s{};]+/gu)].flatMap(([whole, single, double]) =>
        whole.startsWith('#')
          ? []
          : [{ text: single ?? double ?? whole, line: index + 1, isQuoted: (single ?? double) !== undefined }],
      ),
    );
}

/** The directives of a name, below blocks of other names: `directives(all, 'http', 'server')`. */
export function directives(all: readonly Directive[], ...path: readonly string[]): readonly Directive[] {
  const [name, ...rest] = path;
  const found = all.filter((one) => one.name === name);
  return rest.length === 0 ? found : found.flatMap(({ block }) => directives(block, ...rest));
}

/** The words of the last directive of a name. */
export function wordsOf(all: readonly Directive[], ...path: readonly string[]): readonly string[] {
  return directives(all, ...path).at(-1)?.words ?? [];
}
