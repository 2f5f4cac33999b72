import { uuid } from '@openstack-operator/kube';
import { type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

interface Vim {
  readonly type?: string;
  readonly auth_url?: string;
  readonly auth_cred?: Row;
  readonly vim_project?: Row;
}

/**
 * Registers a cloud: logs in there, asks for its regions, and keeps the key of its password (tacker.nfvo.drivers.vim). What goes
 * wrong with the key is a fault of the server. @throws Fault, PythonError
 */
export async function registerVim(context: ServiceContext, { body, identity, store }: Call): Promise<HttpReply> {
  const { process, config, log } = context;
  const vim = (body['vim'] ?? {}) as Vim;
  for (const attribute of ['type', 'auth_url', 'auth_cred', 'vim_project', 'name'])
    if (!(attribute in vim))
      throw new Fault(400, `Failed to parse request. Required attribute '${attribute}' not specified`);
  if (vim.type !== 'openstack')
    throw new PythonError('NotImplementedError', `no model knows a VIM of type ${vim.type}`);
  const id = uuid(process.random);
  const url = /.+v3\/?$/.test(vim.auth_url ?? '') ? (vim.auth_url ?? '') : `${vim.auth_url}/v3`;
  const session = new KeystoneSession(process, config, 'keystone_authtoken');
  await session.send('GET', url, {});
  const { username, password, user_domain_name: domain = 'Default' } = vim.auth_cred ?? {};
  const { name: project, project_domain_name: projectDomain = 'Default' } = vim.vim_project ?? {};
  const login = await session.send(
    'POST',
    `${url}/auth/tokens`,
    {},
    {
      auth: {
        identity: { methods: ['password'], password: { user: { name: username, domain: { name: domain }, password } } },
        scope: { project: { name: project, domain: { name: projectDomain } } },
      },
    },
  );
  if (login.status !== 201) throw httpError(login, id);
  const token = login.headers?.['x-subject-token'] ?? '';
  const found = await session.send('GET', `${url}/regions`, { 'x-auth-token': token });
  const { regions = [] } = JSON.parse(found.body ?? '{}') as { regions?: { id: string }[] };
  const key = Buffer.from(process.random.bytes(32)).toString('base64url');
  let kept: Row;
  try {
    kept = config.boolean('vim_keys', 'use_barbican')
      ? { key_type: 'barbican_key', secret_uuid: await intoBarbican(session, key, id) }
      : intoFile(context, key, id);
  } catch (error) {
    if (error instanceof PythonError)
      log.error(
        'tacker.nfvo.drivers.vim.openstack_driver',
        `VIM key creation failed for vim ${id} due to ${error.message}`,
      );
    throw error;
  }
  const row = {
    ...vim,
    id,
    auth_url: url,
    auth_cred: { ...vim.auth_cred, password: '***', ...kept },
    tenant_id: identity.projectId,
    status: 'ACTIVE',
    placement_attr: { regions: regions.map((region) => region.id) },
  };
  await store((schema) => tableOf(schema, 'vims').set(id, row));
  return json(201, { vim: row });
}

/** The directory has to be there. @throws PythonError */
function intoFile({ process, config }: ServiceContext, key: string, id: string): Row {
  try {
    process.files.write(`${config.text('vim_keys', 'openstack')}/${id}`, key);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new PythonError('tacker.extensions.nfvo.VimKeyNotFoundException', `Unable to find key file for VIM ${id}`);
  }
  return { key_type: 'fernet_key' };
}

/** As the user of Tacker, at the internal endpoint of whatever region. @throws PythonError */
async function intoBarbican(session: KeystoneSession, key: string, id: string): Promise<string> {
  const endpoint = await session.endpoint({ type: 'key-manager', interfaces: ['internal'], region: undefined });
  const reply = await session.request('POST', `${endpoint}/v1/secrets`, {
    payload: key,
    payload_content_type: 'text/plain',
    secret_type: 'opaque',
  });
  if (reply.status !== 201) throw httpError(reply, id);
  const { secret_ref: reference } = JSON.parse(reply.body ?? '{}') as { secret_ref: string };
  return reference.split('/').at(-1) ?? '';
}
