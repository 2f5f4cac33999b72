import { admin } from '../fixture.ts';
import { containers, execute } from '../pods.ts';
import { SdkError } from '../sdk.ts';

interface Volume {
  readonly id: string;
  readonly status: string;
  readonly attachments: readonly { readonly server_id: string }[];
}

/** What a server that has a volume is in `attachments`. */
export const pair = (server: { readonly id: string }, volume: { readonly id: string }): string =>
  `${server.id} has ${volume.id}`;

const sorted = (lines: readonly string[]) => [...lines].sort((one, other) => one.localeCompare(other));

/**
 * Which servers of the whole cloud have which volumes, in the words of each of those that take part in an attachment. A
 * volume that is neither in use nor available stands in Cinder's words by its status, so that they differ from the others'.
 */
export async function attachments(): Promise<Readonly<Record<'Cinder' | 'Nova' | 'libvirt', readonly string[]>>> {
  const [volumes, servers, libvirts] = await Promise.all([
    admin.call<Volume[]>('block_storage.volumes', { details: true, all_projects: true }),
    admin.call<{ id: string }[]>('compute.servers', { details: false, all_projects: true }),
    containers(),
  ]);
  const cinder = volumes.flatMap((volume) => {
    if (!['in-use', 'available'].includes(volume.status)) return [`volume ${volume.id} is ${volume.status}`];
    // Of one that is in use somebody has it; what an available one has left is an attachment all the same.
    return volume.status === 'in-use' && volume.attachments.length === 0
      ? [`volume ${volume.id} is in use by nobody`]
      : volume.attachments.map(({ server_id: id }) => pair({ id }, volume));
  });
  const nova = servers.map(async (server) => {
    const asked = admin.call<{ volume_id: string }[]>('compute.volume_attachments', server.id);
    // One that is gone since has none.
    const found = await asked.catch((error: unknown) => {
      if (error instanceof SdkError && error.status === 404) return [];
      throw error;
    });
    return found.map(({ volume_id: id }) => pair(server, { id }));
  });
  const virsh = libvirts
    .filter(({ component }) => component.startsWith('libvirt'))
    .map(async (container) => {
      const said = async (...words: readonly string[]) => {
        const { code, stdout, stderr } = await execute(container, ['virsh', ...words]);
        if (code !== 0) throw new Error(`virsh ${words.join(' ')} in ${container.pod} ended with ${code}: ${stderr}`);
        return stdout;
      };
      // Nova gives a guest the id of its server.
      const guests = (await said('list', '--all', '--uuid')).split('\n').filter((line) => line.trim() !== '');
      const disks = guests.map(async (id) =>
        [...(await said('domblklist', id.trim())).matchAll(/\/volume-([0-9a-f-]{36})\b/g)].map(([, volume = '']) =>
          pair({ id: id.trim() }, { id: volume }),
        ),
      );
      return (await Promise.all(disks)).flat();
    });
  return {
    Cinder: sorted(cinder),
    Nova: sorted((await Promise.all(nova)).flat()),
    libvirt: sorted((await Promise.all(virsh)).flat()),
  };
}
