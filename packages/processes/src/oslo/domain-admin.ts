import { uuid } from '@openstack-operator/kube';
import type { Process } from '@openstack-operator/sandbox';
import { httpError, type KeystoneSession } from './keystone-session.ts';

/** Who administers a domain, as a service knows him by the options of its own. */
export interface DomainAdmin {
  /** URL of Keystone's API, with its version. */
  readonly uri: string;
  readonly domain: string;
  readonly name: string;
  readonly password: string;
}

/**
 * Makes something (`users`, `projects`) in a domain, as who administers it and logs in to it.
 * @throws PythonError with keystoneauth's words
 */
export async function makeInDomain(
  process: Process,
  session: KeystoneSession,
  { uri, domain: domainName, name, password }: DomainAdmin,
  kind: 'user' | 'project',
  made: Readonly<Record<string, unknown>>,
): Promise<void> {
  const domain = { name: domainName };
  const identity = { methods: ['password'], password: { user: { name, password, domain } } };
  const asked = await session.send('POST', `${uri}/auth/tokens`, {}, { auth: { identity, scope: { domain } } });
  if (asked.status !== 201) throw httpError(asked, uuid(process.random));
  const { token } = JSON.parse(asked.body ?? '{}') as { token: { domain?: { id: string } } };
  const headers = { 'x-auth-token': asked.headers?.['x-subject-token'] ?? '' };
  const body = { [kind]: { ...made, domain_id: token.domain?.id } };
  const reply = await session.send('POST', `${uri}/${kind}s`, headers, body);
  if (reply.status !== 201) throw httpError(reply, uuid(process.random));
}
