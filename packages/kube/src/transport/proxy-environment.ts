import { BlockList, isIP } from 'node:net';
import { parseServer } from './connection.ts';

/**
 * The proxy that the environment asks for (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`; lower case too), as Go reads it
 * (golang.org/x/net/http/httpproxy): nothing goes through a proxy to this machine itself.
 */
export function proxyFromEnvironment(
  server: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const url = parseServer(server);
  const variable = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const proxy = variable(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/gu, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const exceptions = (variable('NO_PROXY') ?? '').split(',').map((item) => item.trim().toLowerCase());
  if (isLocal(host) || exceptions.some((item) => item !== '' && covers(item, host, port))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** One item of NO_PROXY: `*`, an address, a range, a domain (with those below it), each perhaps with a port. */
function covers(item: string, host: string, port: string): boolean {
  if (item === '*') return true;
  const [, name = '', itemPort] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/u.exec(item) ?? [];
  if (itemPort !== undefined && itemPort !== port) return false;
  const bare = name.replace(/^\[|\]$/gu, '');
  const family = isIP(host);
  if (family !== 0) return bare.includes('/') ? inRange(host, family, bare) : bare === host;
  const domain = bare.replace(/^\*?\.?/u, '');
  // With a leading dot only what is below the domain.
  return host.endsWith(`.${domain}`) || (host === domain && !bare.startsWith('.') && !bare.startsWith('*'));
}

function inRange(host: string, family: number, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  if (isIP(network) !== family || !/^\d{1,3}$/u.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}
