import type { Process } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import type { DomainDefinition } from './libvirt-guests.ts';
import { ask } from './wire.ts';

/** What a client sends over protocol `libvirt`. The first message is an `open`. */
export type LibvirtRequest =
  /** `uid`: what SO_PEERCRED tells of the client. */
  | { readonly type: 'open'; readonly uid: number }
  | { readonly type: 'capabilities' }
  | { readonly type: 'domains' }
  | { readonly type: 'create'; readonly definition: DomainDefinition }
  | { readonly type: 'destroy'; readonly uuid: string }
  | { readonly type: 'reload'; readonly uuid: string }
  /** A block device of a guest that runs. */
  | { readonly type: 'attach' | 'detach'; readonly uuid: string; readonly source: string }
  | { readonly type: 'migrate'; readonly migration: MigrationRequest };

/** A guest, and where it is to go on. */
export interface MigrationRequest {
  readonly uuid: string;
  /** Of the other libvirtd: `qemu+tls://HOST/system`. */
  readonly uri: string;
  /** Whether memory and disks are encrypted (VIR_MIGRATE_TLS). */
  readonly tls: boolean;
  /** Where its VNC server listens there. */
  readonly vncListen: string | undefined;
}

/** What a libvirtd sends to another one: a guest that it is to go on with. */
export interface IncomingGuest {
  readonly type: 'incoming';
  readonly definition: DomainDefinition;
  readonly tls: boolean;
}

/** The host that a libvirtd runs on. */
export interface LibvirtHost {
  readonly hostUuid: string;
  readonly hostname: string;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly domainTypes: readonly ('qemu' | 'kvm')[];
}

/** A running guest. */
export interface LibvirtDomain {
  readonly uuid: string;
  readonly name: string;
  readonly vncPort?: number;
  /** Of its process, in /proc of the node. */
  readonly directory?: string;
  /** As it was defined. */
  readonly definition: DomainDefinition;
}

/** libvirt refuses, or cannot be reached: `libvirt.libvirtError` in Python. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError';
}

/** A connection to a hypervisor. */
export type LibvirtConnection = Awaited<ReturnType<typeof openLibvirt>>;

/** Opens `qemu:///system`, or `qemu+unix:///system?socket=/path`. @throws LibvirtError */
export async function openLibvirt(process: Process, uri: string) {
  const match = /^qemu(?:\+unix)?:\/\/\/system(?:\?socket=(.+))?$/.exec(uri);
  if (match === null) throw new LibvirtError(`no connection driver available for ${uri}`);
  const [, socket = '/var/run/libvirt/libvirt-sock'] = match;
  const connection = await worded(
    () => process.network.connectUnix(socket.replace(/^\/var\/run\//, '/run/'), 'libvirt'),
    (error) => new LibvirtError(`Failed to connect socket to '${socket}': ${error.reason}`),
  );
  const send = <T = void>(request: LibvirtRequest): Promise<T> =>
    worded(
      () => ask<T>(connection, request),
      () => new LibvirtError('Cannot recv data: Connection reset by peer'),
    );
  await send({ type: 'open', uid: process.uid });
  return {
    closed: connection.closed,
    capabilities: () => send<LibvirtHost>({ type: 'capabilities' }),
    domains: () => send<readonly LibvirtDomain[]>({ type: 'domains' }),
    create: (definition: DomainDefinition) => send({ type: 'create', definition }),
    destroy: (uuid: string) => send({ type: 'destroy', uuid }),
    /** Has a guest look at the certificate of its screen again. */
    reload: (uuid: string) => send({ type: 'reload', uuid }),
    attach: (uuid: string, source: string) => send({ type: 'attach', uuid, source }),
    detach: (uuid: string, source: string) => send({ type: 'detach', uuid, source }),
    migrate: (migration: MigrationRequest) => send({ type: 'migrate', migration }),
    close: () => connection.close(),
  };
}
