import { accessDenied, mayAccess } from './rbac.ts';
import { header, type RequestInfo, type User } from './request-info.ts';
import { notOffered, StatusError } from './status.ts';
import type { Store } from './store.ts';

/**
 * The request as of whom it says it is (`kubectl --as`, `--as-group`): the headers Impersonate-User and -Group.
 * `open`: without RBAC everybody may.
 * @throws StatusError 403 when the user may not, 501 for what is not offered (Impersonate-Uid, -Extra-)
 */
export function impersonate(store: Store, info: RequestInfo, open: boolean): RequestInfo {
  const other = Object.keys(info.headers).find((name) => /^impersonate-(uid|extra-)/.test(name));
  if (other) throw notOffered(`the header ${other}`);
  const name = header(info, 'impersonate-user');
  const asked = header(info, 'impersonate-group').split(', ').filter(Boolean);
  if (name === '') {
    if (asked.length === 0) return info;
    throw new StatusError(500, 'InternalError', `requested [{Group  ${asked[0]}  }] without impersonating a user name`);
  }
  const wanted = [{ resource: 'users', name }, ...asked.map((group) => ({ resource: 'groups', name: group }))];
  for (const one of open ? [] : wanted) {
    const access = { verb: 'impersonate', group: '', namespace: '', ...one };
    if (!mayAccess(store, info.user, access)) throw accessDenied(info.user, access);
  }
  const own = name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  const user: User = { name, groups: [...new Set([...asked, own])] };
  return { ...info, user };
}
