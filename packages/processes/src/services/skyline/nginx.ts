import { type HttpMessage, type HttpReply, type Process, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import { plain } from '../../http.ts';
import { CommandError, commandWith, makeDirectories, pause, terminated } from '../../program-support.ts';
import { connectTls, UntrustedServerError } from '../../tls.ts';
import { type Directive, directives, NginxError, parseNginx, wordsOf } from './nginx-configuration.ts';

/** `nginx`, as far as it serves files and leads to other servers. */
export const nginx = commandWith({ flags: 't', values: 'c e g' }, async (process, line) => {
  const file = line.value('c') ?? '/etc/nginx/nginx.conf';
  try {
    const all = [...parseNginx(line.value('g') ?? '', 'command line'), ...parseNginx(read(process, file), file)];
    if (wordsOf(all, 'daemon')[0] !== 'off')
      throw new NginxError('this simulated nginx stays in the foreground: say "daemon off;"');
    prepare(process, all);
    const listeners = directives(all, 'http', 'server').map((server) => listen(process, server, trustOf(process, all)));
    await terminated(process);
    for (const listener of listeners) listener.close();
    return 0;
  } catch (error) {
    if (error instanceof NginxError) throw new CommandError(`nginx: [emerg] ${error.message}`);
    throw error;
  }
});

/** @throws NginxError */
function read(process: Process, path: string): string {
  return failing(`open() "${path}"`, () => process.files.read(path));
}

/** Errors of the system, in nginx's words. @throws NginxError */
function failing<T>(what: string, act: () => T): T {
  const numbers: Readonly<Record<string, string>> = {
    ENOENT: '2: No such file or directory',
    EACCES: '13: Permission denied',
    EROFS: '30: Read-only file system',
    EADDRINUSE: '98: Address already in use',
  };
  return attempt(SystemError, act, ({ code }): never => {
    throw new NginxError(`${what} failed (${numbers[code] ?? code})`);
  });
}

/** What it looks at and makes before it serves: other files, its pid, where bodies are kept, the servers that it leads to. */
function prepare(process: Process, all: readonly Directive[]): void {
  for (const { words } of directives(all, 'http', 'include')) read(process, words[0] ?? '');
  const [pid = '/run/nginx.pid'] = wordsOf(all, 'pid');
  failing(`open() "${pid}"`, () => process.files.write(pid, '1\n'));
  for (const [kind, name] of [
    ['client_body', 'body'],
    ...['proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => [one, one]),
  ]) {
    const [path = `/var/lib/nginx/${name}`] = wordsOf(all, 'http', `${kind}_temp_path`);
    failing(`mkdir() "${path}"`, () => makeDirectories(process, path));
  }
  for (const { words, at } of directives(all, 'http', 'server', 'location', 'proxy_pass')) {
    const { host } = upstreamOf(words[0] ?? '', at);
    attempt(
      SystemError,
      () => process.network.lookup(host),
      (): never => {
        throw new NginxError(`host not found in upstream "${host}" in ${at}`);
      },
    );
  }
}

/** How servers behind https are verified: not at all, unless it is said. The certificate is read at the start. @throws NginxError */
function trustOf(process: Process, all: readonly Directive[]): Trust {
  if (wordsOf(all, 'http', 'proxy_ssl_verify')[0] !== 'on') return undefined;
  const [file] = wordsOf(all, 'http', 'proxy_ssl_trusted_certificate');
  if (file === undefined) throw new NginxError('no proxy_ssl_trusted_certificate for proxy_ssl_verify');
  const what = `SSL_CTX_load_verify_locations("${file}")`;
  return { trusted: failing(what, () => process.files.read(file)) };
}

type Trust = { readonly trusted: string } | undefined;

function listen(process: Process, { block }: Directive, trust: Trust) {
  const port = Number(wordsOf(block, 'listen')[0] ?? 80);
  const receive = async (message: unknown) => {
    await pause(process, 1);
    return serve(process, block, message as HttpMessage, trust);
  };
  return failing(`bind() to 0.0.0.0:${port}`, () => process.network.listen(port, 'http', () => ({ receive })));
}

/** The location that a path is of: an exact one, else the longest that it begins with. */
async function serve(
  process: Process,
  server: readonly Directive[],
  message: HttpMessage,
  trust: Trust,
): Promise<HttpReply> {
  const [path = ''] = message.path.split('?');
  const locations = directives(server, 'location').map(({ words, block }) => {
    const [first = '', second] = words;
    return { isExact: first === '=', prefix: second ?? first, block };
  });
  const found =
    locations.find(({ isExact, prefix }) => isExact && prefix === path) ??
    locations
      .filter(({ isExact, prefix }) => !isExact && path.startsWith(prefix))
      .sort((one, other) => other.prefix.length - one.prefix.length)[0];
  if (found === undefined) return plain(404, 'Not Found');
  const [status] = wordsOf(found.block, 'return');
  if (status !== undefined) return plain(Number(status), '');
  const [pass] = directives(found.block, 'proxy_pass');
  if (pass === undefined) return page(process, server, found.block, path);
  return forward(process, pass, { ...message, path: message.path.slice(found.prefix.length) }, trust);
}

/** The first file of `try_files` that is there; the last one names another. */
function page(process: Process, server: readonly Directive[], block: readonly Directive[], path: string): HttpReply {
  const [root = ''] = wordsOf(server, 'root');
  const [index = 'index.html'] = wordsOf(server, 'index');
  const [last = '', ...others] = [...wordsOf(block, 'try_files')].reverse();
  const files = [...others.reverse(), last].map((word) =>
    `${root}${word.replace('$uri', path)}`.replace(/\/$/u, `/${index}`),
  );
  const file = files.find((name) => process.files.exists(name) && !process.files.isDirectory(name));
  if (file === undefined) return plain(500, 'Internal Server Error');
  return { status: 200, headers: { 'content-type': 'text/html' }, body: process.files.read(file) };
}

interface Upstream {
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/** @throws NginxError */
function upstreamOf(url: string, at: string): Upstream {
  const [, scheme = '', host, port = scheme === 'https' ? '443' : '80', path = ''] =
    /^(https?):\/\/([^/:]+)(?::(\d+))?(\/.*)?$/u.exec(url) ?? [];
  if (host === undefined) throw new NginxError(`invalid URL prefix in ${at}`);
  return { scheme, host, port: Number(port), path };
}

async function forward(
  process: Process,
  { words, at }: Directive,
  message: HttpMessage,
  trust: Trust,
): Promise<HttpReply> {
  const { scheme, host, port, path } = upstreamOf(words[0] ?? '', at);
  try {
    const verification = trust && { ...trust, host, now: process.clock.now() };
    const connection = await (scheme === 'https'
      ? connectTls(process.network, { host, port, protocol: 'https' }, verification)
      : process.network.connect(host, port, 'http'));
    const headers = { ...message.headers, host: `${host}:${port}` };
    const reply = (await connection.call({ ...message, headers, path: `${path}${message.path}` })) as HttpReply;
    connection.close();
    return reply;
  } catch (error) {
    if (error instanceof UntrustedServerError)
      process.stderr(`[error] upstream SSL certificate verify error while SSL handshaking to upstream "${words[0]}"\n`);
    else if (!(error instanceof SystemError)) throw error;
    else process.stderr(`[error] connect() failed (${error.code}) while connecting to upstream "${words[0]}"\n`);
    return plain(502, '502 Bad Gateway');
  }
}
