import type { HttpRequest } from '@openstack-operator/kube';

/** The user of a request: from a client certificate, a bearer token, or the in-memory client. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a request is about, as authorization, faults and handlers see it (k8s.io/apiserver RequestInfo). */
export interface RequestInfo {
  /** `get list watch create update patch delete deletecollection`; for other paths the lower-case HTTP method. */
  readonly verb: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly headers: NonNullable<HttpRequest['headers']>;
  /** Below `/api` or `/apis/<group>`, with a plural. */
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const VERBS: Record<string, string> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Whether a request target is a URL whose escapes are UTF-8: of no other one `requestInfo` can say anything. */
export function isRequestTarget(target: string): boolean {
  const url = URL.parse(absolute(target));
  try {
    return url !== null && decodeURIComponent(url.pathname) !== '';
  } catch {
    return false;
  }
}

/** A path is never a reference: `//` would be one to a host without a name. */
function absolute(target: string): string {
  return target.startsWith('/') ? `http://sandbox${target}` : target;
}

/** Takes a request apart. @throws TypeError, URIError when its path is no request target */
export function requestInfo(request: HttpRequest, user: User): RequestInfo {
  const url = new URL(absolute(request.path));
  const base = {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    user,
    headers: request.headers ?? {},
  };
  const nothing = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const core = parts[0] === 'api';
  const rest = parts.slice(core ? 2 : 3);
  if ((!core && parts[0] !== 'apis') || rest.length === 0) {
    return { ...base, ...nothing, verb: request.method.toLowerCase(), isResource: false };
  }
  const group = core ? '' : (parts[1] ?? '');
  const version = (core ? parts[1] : parts[2]) ?? '';
  let namespace = '';
  let [resource = '', name = '', subresource = '', ...more] = rest;
  if (resource === 'namespaces') {
    // namespaces/x/status and namespaces/x/finalize are of the namespace; anything else after x is a plural within it.
    if (name !== '' && subresource !== '' && subresource !== 'status' && subresource !== 'finalize') {
      namespace = name;
      [, , resource = '', name = '', subresource = '', ...more] = rest;
    } else namespace = name;
  }
  subresource = [subresource, ...more].filter((part) => part !== '').join('/');
  let verb = VERBS[request.method] ?? request.method.toLowerCase();
  if (name === '') {
    if (verb === 'get') verb = isTrue(url.searchParams.get('watch')) ? 'watch' : 'list';
    if (verb === 'delete') verb = 'deletecollection';
  } else if (verb === 'get' && isTrue(url.searchParams.get('watch'))) verb = 'watch';
  return { ...base, verb, isResource: true, group, version, resource, subresource, namespace, name };
}

/** A query parameter of type boolean, as Go reads one: present and empty is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}

/** A header's value; several are joined. */
export function header(info: Pick<RequestInfo, 'headers'>, name: string): string {
  const value = info.headers[name];
  return typeof value === 'string' ? value : (value?.join(', ') ?? '');
}
