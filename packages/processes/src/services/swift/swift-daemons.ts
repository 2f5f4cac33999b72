import type { HttpReply, Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { backendCall } from './swift-backend.ts';
import { isTrue, pipelineOf, readConf, readSwiftConf, sectionOf } from './swift-conf.ts';
import { said, swiftProgram } from './swift-program.ts';
import { type RecordPlace, type SwiftRecord, SwiftStore } from './swift-records.ts';
import { devicesOf, partitionOf, type RingDevice, type RingName, readRing } from './swift-ring.ts';
import type { RsyncFile } from './swift-rsync.ts';
import { policyHeader } from './swift-storage.ts';

/** A daemon of a storage node. It wants its section, and all but auditors want rings. */
export function storageDaemon(kind: RingName, name: string): Program {
  return swiftProgram(startTimes.swiftServer, async (process, path) => {
    const options = sectionOf(readConf(process, path), `${kind}-${name}`, path);
    const { hashOf, policies } = readSwiftConf(process);
    const rings = options['swift_dir'] ?? '/etc/swift';
    if (name !== 'auditor') readRing(process, rings, kind);
    if (name === 'expirer') internalClient(process, options['internal_client_conf_path']);
    if (name !== 'replicator' && name !== 'reconstructor') {
      await terminated(process);
      return 0;
    }
    // Here fragments are whole copies.
    const type = name === 'replicator' ? 'replication' : 'erasure_coding';
    const own = kind === 'object' ? policies.filter((policy) => policy.type === type).map(({ index }) => index) : [0];
    const done = new Set<string>();
    do {
      for (const policy of own) {
        const store = new SwiftStore(process, options['devices'] ?? '/srv/node', kind, policy);
        const ring = readRing(process, rings, kind, policy);
        const isLocal = ({ ip, port }: RingDevice) =>
          port === Number(options['bind_port']) && addressesOf(process, ip).includes(process.pod.ip);
        const send = async ({ device }: RingDevice, place: RecordPlace) => {
          const record = store.read(place);
          if (record === undefined) return;
          const { primaries } = devicesOf(ring, partitionOf(ring, hashOf(...record.names)));
          const key = JSON.stringify([policy, place, record, primaries]);
          if (done.has(key)) return;
          const others = primaries.filter((one) => !(isLocal(one) && one.device === device));
          const what = { place, record, kind, policy, module: options['rsync_module'] };
          const sent = await Promise.all(others.map((one) => replicate(process, one, what)));
          if (!sent.every((one) => one)) return;
          if (others.length === primaries.length) store.remove(place);
          else done.add(key);
        };
        const isThere = ({ device }: RingDevice) => store.has(device, isTrue(options['mount_check'] ?? 'true'));
        for (const device of ring.devices.filter((one) => isLocal(one) && isThere(one)))
          for (const place of store.list(device.device)) await send(device, place);
      }
    } while (await pause(process, 1000 * Number(options['interval'] ?? 30)));
    return 0;
  });
}

/** It asks as a client, by a proxy of its own. @throws SwiftError */
function internalClient(process: Process, path = '/etc/swift/internal-client.conf'): void {
  const app = pipelineOf(process, path).get('proxy-server') ?? {};
  for (const kind of ['account', 'container', 'object'] as const)
    readRing(process, app['swift_dir'] ?? '/etc/swift', kind);
}

function addressesOf(process: Process, host: string): readonly string[] {
  try {
    return process.network.lookup(host);
  } catch {
    return [];
  }
}

/** Brings a record to where it belongs. @returns whether it is there now */
async function replicate(
  process: Process,
  target: RingDevice,
  what: {
    place: { partition: number; hash: string };
    record: SwiftRecord;
    kind: RingName;
    policy: number;
    module: string | undefined;
  },
): Promise<boolean> {
  const { place, record, kind, policy, module = `{replication_ip}::${kind}` } = what;
  const path = [target.device, String(place.partition), ...record.names];
  const reply: HttpReply | undefined = await backendCall(process, target, 'REPLICATE', path, {
    headers: { [policyHeader]: String(policy) },
    body: JSON.stringify(record),
  });
  if (reply?.status !== 200) return false;
  if (reply.body === 'same') return true;
  const [, host = '', port = '873', name = ''] =
    /^(?:rsync:\/\/)?([^:]+?)(?::(\d+)\/|::)(\w+)$/u.exec(module.replace('{replication_ip}', target.ip)) ?? [];
  try {
    const connection = await process.network.connect(host, Number(port), 'rsync');
    const file: RsyncFile = { module: name, device: target.device, ...place, record, policy };
    const answer = await connection.call(file);
    connection.close();
    if (answer !== '') said(process, `${kind}-replicator`, `rsync: ${String(answer)}`);
    return answer === '';
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    said(process, `${kind}-replicator`, `rsync: failed to connect to ${host}: ${error.reason}`);
    return false;
  }
}
