import { uuid } from '@openstack-operator/kube';
import { type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { CephError, connectToCeph } from '../../infrastructure/ceph.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import type { ImageStore } from './image-store.ts';

const logger = 'glance_store._drivers.cinder.store';
const exception = (type: string, message: string) => new PythonError(`glance_store.exceptions.${type}`, message);

/** The account, by what keystoneauth calls its options. */
const account = {
  auth_url: 'auth_address',
  username: 'user_name',
  password: 'password',
  user_domain_name: 'user_domain_name',
  project_name: 'project_name',
  project_domain_name: 'project_domain_name',
} as const;

interface Volume extends Row {
  readonly id: string;
  readonly status: string;
}

/**
 * glance_store 4.9's driver of Cinder with an account of its own, python-cinderclient 9.7 and os-brick 6.11. An image is a
 * volume of the account's project; the model keeps the data with the image's location, as those in Ceph. A type that is
 * stated is looked for at the start: only that nothing answers ends the program. @throws PythonError
 */
export async function openCinder(context: ServiceContext, store: string): Promise<ImageStore> {
  const { process, config, log } = context;
  const option = (name: string): string => config.text(store, name);
  const login = Object.fromEntries(
    Object.entries(account).map(([name, own]) => [name, option(`cinder_store_${own}`) || undefined]),
  );
  const more = { auth_type: 'password', cafile: option('cinder_ca_certificates_file') || undefined };
  const options: Readonly<Record<string, string | undefined>> = { ...login, ...more };
  const isOwn = ['auth_url', 'username', 'password', 'project_name'].every((name) => options[name] !== undefined);
  const session = new KeystoneSession(process, { optional: (_group, name) => options[name] }, '');
  const region = option('cinder_os_region_name') || undefined;

  /** Asks at the public endpoint: with an account of its own the driver says nothing of another one. @throws PythonError */
  const call = async (method: string, path: string, body?: unknown): Promise<HttpReply> => {
    if (!isOwn) throw new PythonError('NotImplementedError', 'no model knows a store in Cinder without an account');
    const url = await session.endpoint({ type: 'volumev3', interfaces: ['public'], region });
    return await session.request(method, `${url}${path}`, body, { 'openstack-api-version': 'volume 3.54' });
  };
  const ask = async (method: string, path: string, body?: unknown): Promise<Row> => {
    const reply = await call(method, path, body);
    if (reply.status >= 300) throw refusal(context, reply);
    return JSON.parse(reply.body || '{}') as Row;
  };
  const volumeOf = async (id: string) => (await ask('GET', `/volumes/${id}`))['volume'] as Volume;

  const type = option('cinder_volume_type');
  if (type !== '') {
    // Without an account it is the user's that is asked for, and nobody uses it yet.
    if (!isOwn) throw new PythonError('AttributeError', "'NoneType' object has no attribute 'user_id'");
    const { status, body } = await call('GET', `/types?name=${encodeURIComponent(type)}&is_public=None`);
    const { volume_types: types = [] } = JSON.parse((status === 200 && body) || '{}') as { volume_types?: Row[] };
    if (status === 200 && !types.some(({ name }) => name === type))
      log.warning(logger, `Invalid \`cinder_volume_type ${type}\``);
  }

  const reaches = async (id: string): Promise<Volume> => {
    for (let tries = 0; ; tries += 1) {
      const volume = await volumeOf(id);
      if (volume.status === 'available') return volume;
      if (volume.status !== 'creating')
        throw exception(
          'BackendException',
          `The status of volume ${id} is unexpected: status = ${volume.status}, expected = available.`,
        );
      await pause(process, Math.min(500 * 2 ** tries, 15_000));
    }
  };

  /** Attaches a volume for as long as it is used; a volume that is not free is tried five times. @throws PythonError */
  const withVolume = async (id: string, mode: 'ro' | 'rw'): Promise<void> => {
    demandHelper(context);
    const reserve = async (attempt: number): Promise<Row> => {
      const reply = await call('POST', '/attachments', { attachment: { volume_uuid: id, mode } });
      if (reply.status < 300) return (JSON.parse(reply.body ?? '{}') as { attachment: Row }).attachment;
      if (reply.status !== 400 || attempt === attempts) throw refusal(context, reply);
      await pause(process, Math.min(1000 * 2 ** attempt, 10_000));
      return reserve(attempt + 1);
    };
    const path = `/attachments/${String((await reserve(1))['id'])}`;
    try {
      const connector = { os_type: 'linux', mountpoint: 'glance_store' };
      const { attachment } = await ask('PUT', path, { attachment: { connector } });
      open(context, (attachment as { connection_info: Connection }).connection_info);
      await ask('POST', `${path}/action`, { 'os-complete': path.slice('/attachments/'.length) });
    } catch (error) {
      if (error instanceof PythonError)
        log.exception(logger, `Exception while accessing to cinder volume ${id}.`, error);
      throw error;
    } finally {
      await ask('DELETE', path);
    }
  };

  return {
    add: async (id, data) => {
      const size = Math.max(1, Math.ceil(data.length / 2 ** 30));
      const metadata = { glance_image_id: id, image_size: String(data.length) };
      const wanted = { size, name: `image-${id}`, metadata, volume_type: type || null };
      const made = await call('POST', '/volumes', { volume: wanted });
      if ([404, 413].includes(made.status)) throw exception('BackendException', refusal(context, made).message);
      if (made.status >= 300) throw refusal(context, made);
      const volume = await reaches((JSON.parse(made.body ?? '{}') as { volume: Volume }).volume.id);
      try {
        await withVolume(volume.id, 'rw');
      } catch (error) {
        log.error(logger, `Failed to write to volume ${volume.id}.`);
        await call('DELETE', `/volumes/${volume.id}`);
        throw error;
      }
      await ask('POST', `/volumes/${volume.id}/action`, { 'os-update_readonly_flag': { readonly: true } });
      return { location: `cinder://${store}/${volume.id}`, data };
    },
    read: async ({ location, data }) => {
      const id = volumeIn(location);
      const reply = await call('GET', `/volumes/${id}`);
      if (reply.status >= 300) {
        const isGone = reply.status === 404;
        const why = isGone
          ? `Failed to get image size due to volume can not be found: ${id}`
          : `Failed to get image volume ${id}: ${refusal(context, reply).message}`;
        log.error(logger, why);
        throw exception(isGone ? 'NotFound' : 'BackendException', why);
      }
      await withVolume(id, 'ro');
      return String(data);
    },
    remove: async ({ location }) => {
      const id = volumeIn(location);
      const reply = await call('DELETE', `/volumes/${id}`);
      if (reply.status === 404) throw exception('NotFound', `Image ${id} not found`);
      if (reply.status >= 300)
        throw exception('BackendException', `Failed to delete volume ${id}: ${refusal(context, reply).message}`);
    },
  };
}

const attempts = 5;

/** The volume that a location names. */
const volumeIn = (location: unknown): string => String(location).split('/').at(-1) ?? '';

/** cinderclient's exception for an answer. */
function refusal({ process }: ServiceContext, reply: HttpReply): PythonError {
  const names: Readonly<Record<number, string>> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    413: 'OverLimit',
  };
  const { message } = httpError(reply, uuid(process.random));
  return new PythonError(`cinderclient.exceptions.${names[reply.status] ?? 'ClientException'}`, message);
}

/**
 * os-brick starts its helper before it knows what keeps a volume: by sudo, unless another command is stated, and that may not
 * keep capabilities that the container does not have (oslo_privsep.daemon). @throws PythonError
 */
function demandHelper({ process, config, log }: ServiceContext): void {
  const failed = (words: string) => {
    log.error('oslo.privsep.daemon', words);
    return new PythonError('oslo_privsep.daemon.FailedToDropPrivileges', words);
  };
  const command = config.text('privsep_osbrick', 'helper_command');
  if (process.privileged) return;
  if (!command.startsWith('privsep-helper ')) throw failed('privsep helper command exited non-zero (1)');
  const file = / --config-file (\S+)/u.exec(command)?.[1];
  const isBare = config.list('privsep_osbrick', 'capabilities', 'CAP_SYS_ADMIN').length === 0;
  if (file === undefined || !process.files.exists(file) || !isBare) throw failed('Privsep daemon failed to start');
}

/** What Cinder says of how a volume is reached. */
interface Connection {
  readonly driver_volume_type: string;
  readonly name?: string;
  readonly auth_username?: string;
  readonly hosts?: string;
}

/** librbd opens it with a file of os-brick's own, which has the keyring of the user. @throws PythonError */
function open({ process, log }: ServiceContext, connection: Connection): void {
  const { driver_volume_type: kind, auth_username: user = '', hosts = '' } = connection;
  if (kind !== 'rbd') throw new PythonError('NotImplementedError', `no model attaches a volume of ${kind} to a Glance`);
  const keyring = `/etc/ceph/ceph.client.${user}.keyring`;
  const brick = (message: string) => new PythonError('os_brick.exception.BrickException', message);
  if (!process.files.exists(keyring)) throw brick(`Keyring path ${keyring} is not readable.`);
  const conf = '/tmp/brickrbd_';
  try {
    process.files.write(conf, `[global]\nmon_host = ${hosts}\n${process.files.read(keyring)}\n`);
    connectToCeph(process, { conf, user });
    process.files.remove(conf);
  } catch (error) {
    if (error instanceof SystemError) throw new PythonError('FileNotFoundError', `No usable temporary directory found`);
    if (!(error instanceof CephError)) throw error;
    log.error('os_brick.initiator.linuxrbd', 'Error connecting to ceph cluster.');
    throw brick('Error connecting to ceph cluster.');
  }
}
