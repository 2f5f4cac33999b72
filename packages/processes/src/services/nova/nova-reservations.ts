import { uuid } from '@openstack-operator/kube';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import type { Disk } from './nova-build.ts';
import { type AskCinder, cinderClient, says } from './nova-volume-client.ts';
import type { RequestContext } from './user-client.ts';

/** Cinder keeps a volume for a server. @throws Fault with its words, PythonError */
export async function reserve(cinder: AskCinder, volume: string, server: string): Promise<string> {
  try {
    const attachment = { volume_uuid: volume, instance_uuid: server };
    return String(((await cinder('POST', '/attachments', { attachment }))['attachment'] as Row)['id']);
  } catch (error) {
    if (!(error instanceof PythonError) || !says(error, 'BadRequest')) throw error;
    throw new Fault(400, `Invalid input received: ${error.message}`);
  }
}

/** A block device that a new server is asked for (`block_device_mapping_v2`). */
export interface AskedDisk extends Pick<Disk, 'source_type' | 'uuid' | 'volume_size'> {
  readonly destination_type?: 'volume' | 'local';
  readonly boot_index?: number | null;
  readonly delete_on_termination?: boolean;
}

/** The disks that a new server is asked for, as rows: a volume that is there already is reserved. @throws Fault */
export async function reserveDisks(
  context: ServiceContext,
  user: RequestContext,
  server: string,
  mapping: readonly AskedDisk[] = [],
): Promise<Disk[]> {
  const cinder = cinderClient(context, user);
  const disks: Disk[] = [];
  for (const asked of mapping) {
    const {
      destination_type: to,
      source_type: from,
      uuid: source,
      volume_size,
      boot_index,
      delete_on_termination,
    } = asked;
    // The image of a server that is told of other disks besides.
    if (from === 'image' && to === 'local') continue;
    if (to !== 'volume' && from !== 'volume')
      throw new Fault(400, 'this model has block devices that are volumes only');
    if ((from === 'image' || from === 'blank') && volume_size === undefined)
      throw new Fault(
        400,
        from === 'image'
          ? "Images with destination_type 'volume' need to have a non-zero size specified"
          : "Blank volumes (source: 'blank', dest: 'volume') need to have non-zero size",
      );
    const row = {
      id: uuid(context.process.random),
      source_type: from,
      boot_index: boot_index ?? null,
      delete_on_termination: delete_on_termination === true,
    };
    const held =
      from === 'volume' && source !== undefined ? { attachment_id: await reserve(cinder, source, server) } : {};
    disks.push({
      ...row,
      ...held,
      ...(source !== undefined && { uuid: source }),
      ...(volume_size !== undefined && { volume_size }),
    });
  }
  return disks;
}
