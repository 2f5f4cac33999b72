import { users } from '@openstack-operator/facts/users';

/** Users and groups of every Kolla image, with their numeric ids. */
const kollaUsers = Object.entries(users).filter(([name]) => name !== 'root' && name !== 'operator');

/** Numeric id of a Kolla user. */
export function kollaId(name: string): number {
  const found = kollaUsers.find(([user]) => user === name);
  if (found === undefined) throw new Error(`Kolla has no user ${name}`);
  return found[1];
}

/** `/etc/passwd` and `/etc/group` of every Kolla image. */
export const accountFiles: Readonly<Record<string, string>> = {
  '/etc/passwd': [
    'root:x:0:0:root:/root:/bin/bash',
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
    ...kollaUsers.map(([name, id]) => `${name}:x:${id}:${id}::/var/lib/${name}:/usr/sbin/nologin`),
    '',
  ].join('\n'),
  '/etc/group': [
    'root:x:0:',
    'nogroup:x:65534:',
    ...kollaUsers.map(([name, id]) => `${name === 'hacluster' ? 'haclient' : name}:x:${id}:`),
    '',
  ].join('\n'),
};

/** `/etc/passwd` of an image in which a user may log in. */
export function withShell(name: string): string {
  const line = new RegExp(`^(${name}:.*):/usr/sbin/nologin$`, 'm');
  return (accountFiles['/etc/passwd'] ?? '').replace(line, '$1:/bin/bash');
}
