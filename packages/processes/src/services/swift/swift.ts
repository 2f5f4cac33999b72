import type { Modelled } from '../../model/model.ts';
import { owned, venv } from '../../recipe.ts';
import { storageDaemon } from './swift-daemons.ts';
import { proxyServer } from './swift-proxy.ts';
import { type RingName, ringBuilder } from './swift-ring.ts';
import { rsync } from './swift-rsync.ts';
import { storageServer } from './swift-storage.ts';
import { python } from './swift-xattr.ts';

const daemons: Readonly<Record<RingName, string>> = {
  account: 'auditor reaper replicator',
  container: 'auditor replicator updater',
  object: 'auditor expirer reconstructor replicator updater',
};

const storage = (Object.keys(daemons) as RingName[]).flatMap((kind) => [
  [`swift-${kind}-server`, storageServer(kind)] as const,
  ...daemons[kind].split(' ').map((name) => [`swift-${kind}-${name}`, storageDaemon(kind, name)] as const),
]);

const programs = {
  'swift-proxy-server': proxyServer,
  'swift-ring-builder': ringBuilder,
  ...Object.fromEntries(storage),
};

/** Swift 2.35: rings, quorums and replicas as they are; S3 and large objects are refused. */
export const swift: Modelled = {
  programs: { ...programs, rsync },
  modules: {},
  recipes: ['swift-proxy-server', 'swift-object'].map((name) => ({
    names: [name],
    user: 'swift',
    runsAsUser: true,
    programs: { [venv]: programs, '/usr/bin': { rsync, python3: python } },
    files: { '/etc/swift': owned('swift') },
  })),
};
