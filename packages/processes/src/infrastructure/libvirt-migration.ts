import { type Listener, type Process, type Session, SystemError } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { certificateProblem, readCertificate } from '../certificates.ts';
import { behindTls, connectTls, UntrustedServerError } from '../tls.ts';
import { endGuest, startGuest } from './libvirt-guests.ts';
import { type IncomingGuest, type LibvirtDomain, LibvirtError, type MigrationRequest } from './libvirt-protocol.ts';
import { answering, ask } from './wire.ts';

/** Settings of libvirtd.conf or qemu.conf. */
type Settings = ReadonlyMap<string, string>;

/** Where libvirtd has what it shows to others, and whom it trusts, unless it is told. */
const certificates = {
  ca: '/etc/pki/CA/cacert.pem',
  certificate: '/etc/pki/libvirt/servercert.pem',
  key: '/etc/pki/libvirt/private/serverkey.pem',
};

/** What it shows when it connects itself: no setting of libvirtd says another path. */
const ofClient = '/etc/pki/libvirt/clientcert.pem';

/** Where libvirtd listens by TLS. */
const tlsPort = 16_514;

/** What it shows to hosts that connect by TLS, as PEM; undefined when it serves none; or which file it misses. */
export function certificateOf(process: Process, settings: Settings): string | { readonly missing: string } | undefined {
  if (settings.get('listen_tls') === '0') return undefined;
  const paths = {
    certificate: settings.get('cert_file') ?? certificates.certificate,
    key: settings.get('key_file') ?? certificates.key,
  };
  for (const [what, path] of [
    ['CA certificate', settings.get('ca_file') ?? certificates.ca],
    ['server certificate', paths.certificate],
    ['server key', paths.key],
  ] as const)
    if (!process.files.exists(path))
      return { missing: `virNetTLSContextCheckCertFile: Cannot read ${what} '${path}': No such file or directory` };
  const read = readCertificate(process.files, paths);
  return 'unusable' in read
    ? { missing: `virNetTLSContextLoadCertFromFile: Unable to import server certificate ${paths[read.unusable]}` }
    : read.pem;
}

/** Serves other hosts that show a certificate of the authority that it trusts: it takes guests of theirs. */
export function listenByTls(
  process: Process,
  settings: Settings,
  server: { readonly certificate: () => string; readonly domains: Map<string, LibvirtDomain>; readonly qemu: Settings },
): Listener {
  const { certificate, domains, qemu } = server;
  const host = settings.get('listen_addr');
  const accept = (): Session => ({
    receive: answering(({ definition, tls }: IncomingGuest) => {
      if (qemu.get('migrate_tls_force') === '1' && !tls)
        throw new LibvirtError('this libvirtd instance allows migration only with VIR_MIGRATE_TLS flag');
      return startGuest(process, domains, definition, qemu);
    }),
  });
  const refuse = (shown: string | undefined): void => {
    const trusted = process.files.read(settings.get('ca_file') ?? certificates.ca);
    if (shown === undefined || certificateProblem(shown, { trusted, now: process.clock.now() }) !== undefined)
      throw new LibvirtError('Unable to read TLS confirmation: Input/output error');
  };
  return process.network.listen(
    Number(settings.get('tls_port') ?? tlsPort),
    'libvirt',
    behindTls(certificate, accept, refuse),
    { ...(host !== undefined && { host }) },
  );
}

/**
 * Has another host go on with a guest: libvirtd connects to libvirtd (peer to peer). What is copied meanwhile is not
 * modelled; a guest that cannot begin there goes on here. @throws LibvirtError
 */
export async function migrateGuest(
  process: Process,
  domains: Map<string, LibvirtDomain>,
  { uuid, uri, tls, vncListen }: MigrationRequest,
): Promise<void> {
  const domain = domains.get(uuid);
  if (domain === undefined) throw new LibvirtError(`Domain not found: no domain with matching uuid '${uuid}'`);
  const [, scheme = '', host = ''] = /^qemu\+(\w+):\/\/([^/]+)\/system$/.exec(uri) ?? [];
  if (scheme !== 'tls') throw new LibvirtError(`this model does not migrate by ${uri}`);
  const connection = await connectTo(process, host);
  try {
    const guest: IncomingGuest = { type: 'incoming', definition: { ...domain.definition, vncListen }, tls };
    await worded(
      () => ask(connection, guest),
      () => new LibvirtError('Cannot recv data: Connection reset by peer'),
    );
  } finally {
    connection.close();
  }
  endGuest(process, domains, uuid);
}

async function connectTo({ network, files, clock }: Process, host: string) {
  for (const path of [certificates.ca, ofClient])
    if (!files.exists(path)) throw new LibvirtError(`Cannot read certificate '${path}': No such file or directory`);
  const verification = { trusted: files.read(certificates.ca), host, now: clock.now() };
  try {
    const to = { host, port: tlsPort, protocol: 'libvirt' };
    return await connectTls(network, to, verification, files.read(ofClient));
  } catch (error) {
    if (error instanceof UntrustedServerError)
      throw new LibvirtError("authentication failed: Failed to verify peer's certificate");
    if (!(error instanceof SystemError)) throw error;
    throw new LibvirtError(`unable to connect to server at '${host}:${tlsPort}': ${error.reason}`);
  }
}
