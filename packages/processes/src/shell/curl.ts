import { type HttpReply, type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { type CommandLine, parseCommandLine, UsageError } from '../command-line.ts';
import { CommandError, command, pause } from '../program-support.ts';
import { connectHttp, MissingAuthorityError, UntrustedServerError } from '../tls.ts';
import { absolutePath } from './file-commands.ts';

const names = {
  flags:
    's|silent S|show-error f|fail fail-with-body k|insecure L|location i|include I|head v|verbose g|globoff N compressed retry-connrefused retry-all-errors',
  values:
    'X|request H|header d|data|data-binary|data-raw data-urlencode json u|user o|output w|write-out K|config m|max-time A b c connect-timeout retry retry-delay retry-max-time cacert cert key url netrc-file unix-socket noproxy',
};

class CurlError extends Error {
  override readonly name = 'CurlError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** `curl` over HTTP, and HTTPS with the authority that --cacert or CURL_CA_BUNDLE names: method, headers, data, basic authentication, -f, -o, -w, -K, --retry. */
export const curl: Program = command(async (process) => {
  const words = process.argv.slice(1);
  const usage = (words: string): never => {
    throw new CommandError(`curl: ${words}\ncurl: try 'curl --help' or 'curl --manual' for more information`, 2);
  };
  const line = attempt(
    UsageError,
    () => parseCommandLine([...words, ...configured(process, words)], names),
    ({ option }) => usage(`option ${option}: is unknown`),
  );
  const url = line.value('url') ?? line.operands[0] ?? usage('(2) no URL specified');
  const complain = (error: CurlError): number => {
    if (!line.has('silent') || line.has('show-error')) process.stderr(`curl: (${error.code}) ${error.message}\n`);
    return error.code;
  };
  const retries = Number(line.value('retry') ?? 0);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const reply = await send(process, url, line, Number(line.value('max-time') ?? 0) * 1000);
      if (attempt < retries && [408, 429, 500, 502, 503, 504].includes(reply.status)) throw new CurlError(-1, '');
      return show(process, reply, line, complain);
    } catch (error) {
      if (!(error instanceof CurlError)) throw error;
      const again =
        error.code === -1 ||
        error.code === 28 ||
        line.has('retry-all-errors') ||
        (error.code === 7 && line.has('retry-connrefused'));
      if (attempt >= retries || !again) return complain(error);
      await pause(process, Number(line.value('retry-delay') ?? 2 ** attempt) * 1000);
    }
  }
});

/** Options of `-K file` (or `-K -`: standard input): `name = "value"` a line. */
function configured(process: Process, words: readonly string[]): string[] {
  const at = words.findIndex((word) => word === '-K' || word === '--config');
  const file = words[at + 1];
  if (at < 0 || file === undefined) return [];
  const text = file === '-' ? (process.stdin ?? '') : process.files.read(absolutePath(process, file));
  return text.split('\n').flatMap((raw) => {
    const match = /^\s*(?:--|-)?([\w-]+)\s*(?:[=:\s]\s*(?:"((?:[^"\\]|\\.)*)"|(\S.*?)))?\s*$/.exec(raw);
    if (match === null || raw.trim().startsWith('#')) return [];
    const [, name = '', quoted, bare] = match;
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? bare;
    const option = name.length === 1 ? `-${name}` : `--${name}`;
    return value === undefined ? [option] : [option, value];
  });
}

async function send(process: Process, url: string, line: CommandLine, limit: number): Promise<HttpReply> {
  const match = /^(?:(https?):\/\/)?(?:([^@/]*)@)?(\[[^\]]+\]|[^/:?]+)(?::(\d+))?([/?].*)?$/.exec(url);
  if (match === null) throw new CurlError(3, 'URL using bad/illegal format or missing URL');
  const [, scheme = 'http', login, host = '', port = scheme === 'https' ? '443' : '80', path = '/'] = match;
  const headers: Record<string, string> = {
    host: match[4] === undefined ? host : `${host}:${port}`,
    accept: '*/*',
    'user-agent': 'curl/8.14.1',
  };
  const data = [...line.values('data'), ...line.values('json')].map((text) => dataOf(process, text));
  if (data.length > 0)
    headers['content-type'] = line.has('json') ? 'application/json' : 'application/x-www-form-urlencoded';
  const user = line.value('user') ?? (login && decodeURIComponent(login));
  if (user !== undefined) headers['authorization'] = `Basic ${Buffer.from(user).toString('base64')}`;
  for (const header of line.values('header')) {
    const [name = '', ...rest] = header.split(':');
    headers[name.trim().toLowerCase()] = rest.join(':').trim();
  }
  const method = line.value('request') ?? (line.has('head') ? 'HEAD' : data.length > 0 ? 'POST' : 'GET');
  try {
    const socket = line.value('unix-socket');
    const authority = line.value('cacert') ?? process.env['CURL_CA_BUNDLE'];
    const connection = await (socket === undefined
      ? connectHttp(process, { scheme, host, port: Number(port) }, authority)
      : process.network.connectUnix(socket, 'http'));
    const late = new Promise<'late'>((resolve) => {
      if (limit > 0) process.clock.after(limit, () => resolve('late'), { ref: false });
    });
    const reply = await Promise.race([
      connection.call({ method, path: path.startsWith('?') ? `/${path}` : path, headers, body: data.join('&') }),
      late,
    ]);
    connection.close();
    if (reply === 'late')
      throw new CurlError(28, `Operation timed out after ${limit} milliseconds with 0 bytes received`);
    return reply as HttpReply;
  } catch (error) {
    if (error instanceof UntrustedServerError) throw new CurlError(60, certificateWords(error));
    if (error instanceof MissingAuthorityError)
      throw new CurlError(77, `error setting certificate file: ${error.message}`);
    if (!(error instanceof SystemError)) throw error;
    if (error.code === 'EPROTO' && scheme === 'https')
      throw new CurlError(35, `OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to ${host}:${port} `);
    if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
      throw new CurlError(6, `Could not resolve host: ${host}`);
    if (error.code === 'ETIMEDOUT')
      throw new CurlError(28, `Failed to connect to ${host} port ${port} after 134000 ms: Could not connect to server`);
    if (error.code === 'ECONNRESET') throw new CurlError(52, 'Empty reply from server');
    if (error.code === 'EPROTO') throw new CurlError(1, 'Received HTTP/0.9 when not allowed');
    throw new CurlError(7, `Failed to connect to ${host} port ${port} after 0 ms: Could not connect to server`);
  }
}

/** What OpenSSL says, as curl tells of it. */
function certificateWords({ message }: UntrustedServerError): string {
  const [, why = ''] = /certificate verify failed: (.*?)\.? \(_ssl/u.exec(message) ?? [];
  const [, host] = /^Hostname mismatch, .*'(.*)'$/u.exec(why) ?? [];
  return host === undefined
    ? `SSL certificate problem: ${why}`
    : `SSL: no alternative certificate subject name matches target host name '${host}'`;
}

function dataOf(process: Process, text: string): string {
  if (text === '@-') return process.stdin ?? '';
  if (!text.startsWith('@')) return text;
  try {
    return process.files.read(absolutePath(process, text.slice(1)));
  } catch {
    throw new CurlError(26, `Failed to open ${text.slice(1)}`);
  }
}

function show(process: Process, reply: HttpReply, line: CommandLine, complain: (error: CurlError) => number): number {
  const failed = reply.status >= 400 && (line.has('fail') || line.has('fail-with-body'));
  const heads =
    line.has('include') || line.has('head')
      ? `HTTP/1.1 ${reply.status}\n${Object.entries(reply.headers ?? {})
          .map(([name, text]) => `${name}: ${text}\n`)
          .join('')}\n`
      : '';
  const body = line.has('head') || (failed && !line.has('fail-with-body')) ? '' : (reply.body ?? '');
  const output = line.value('output');
  if (output === undefined || output === '-') process.stdout(`${heads}${body}`);
  else if (output !== '/dev/null') process.files.write(absolutePath(process, output), `${heads}${body}`);
  const format = line.value('write-out');
  if (format !== undefined)
    process.stdout(
      format
        .replaceAll('%{http_code}', String(reply.status))
        .replaceAll('%{response_code}', String(reply.status))
        .replaceAll(String.raw`\n`, '\n'),
    );
  return failed ? complain(new CurlError(22, `The requested URL returned error: ${reply.status}`)) : 0;
}
