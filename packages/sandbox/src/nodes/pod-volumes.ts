import { type Clock, timestamp } from '@openstack-operator/kube';
import type { IContainer, IVolume } from 'kubernetes-models/v1';
import { PersistentVolume, PersistentVolumeClaim, type Pod, type Stored } from '../cluster/kinds.ts';
import type { ObjectReader } from '../cluster/object-source.ts';
import type { Storage } from '../cluster/storage.ts';
import {
  applyFsGroup,
  type DirectoryNode,
  directoryAt,
  emptyVolume,
  segments,
  type TreeNode,
  type Volume,
} from '../programs/file-tree.ts';
import type { Mount } from '../programs/mount.ts';
import { quantityNumber } from '../resources/quantity.ts';
import type { DownwardFacts } from './downward-api.ts';
import { expandVariables } from './expand.ts';
import { hostPathNode, hostPathOn, lookUp } from './host-path.ts';
import { type ProjectedFile, projectedFiles, projectedSources, writeProjectedFiles } from './projected-files.ts';

/** What the volumes of a pod are made from. */
export interface VolumeWorld {
  readonly clock: Clock;
  readonly objects: ObjectReader;
  readonly storage: Storage;
  /** The node's own disk. */
  readonly disk: Volume;
}

/** One volume that could not be set up: `reason` is the event's. */
export interface VolumeFailure {
  readonly reason: 'FailedMount' | 'FailedAttachVolume';
  readonly message: string;
}

interface Mounted {
  readonly node: TreeNode;
  readonly volume: Volume;
  readonly readOnly: boolean;
  /** Of a hostPath: where it is on the node. */
  readonly from?: string;
  /** As last written; only for volumes made from objects. */
  files?: ReadonlyMap<string, ProjectedFile>;
}

/** The volumes of one pod on one node. */
export class PodVolumes {
  readonly #world: VolumeWorld;
  readonly #mounted = new Map<string, Mounted>();
  #versions = 0;

  constructor(world: VolumeWorld) {
    this.#world = world;
  }

  /** Sets up what is not there yet. Gives what does not work yet, in the kubelet's words. */
  setUp(pod: Stored<Pod>, facts: DownwardFacts): VolumeFailure[] {
    const failures: VolumeFailure[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      if (this.#mounted.has(volume.name)) continue;
      try {
        this.#mounted.set(volume.name, this.#mount(pod, volume, facts));
      } catch (error) {
        failures.push(failure(volume, error));
      }
    }
    return failures;
  }

  /** Brings volumes made from objects up to date; an object that has gone meanwhile changes nothing. */
  refresh(pod: Stored<Pod>, facts: DownwardFacts): void {
    for (const volume of pod.spec.volumes ?? []) {
      const mounted = this.#mounted.get(volume.name);
      if (mounted?.files === undefined) continue;
      try {
        const files = projectedFiles(pod, volume, facts, this.#world.objects);
        if (files && !sameFiles(mounted.files, files)) this.#write(pod, mounted, files);
      } catch {
        // The kubelet keeps the last good version too, and says so only in its own log.
      }
    }
  }

  /** Whether one of the volumes is made from that ConfigMap or Secret. */
  uses(pod: Stored<Pod>, kind: 'ConfigMap' | 'Secret', name: string): boolean {
    return (pod.spec.volumes ?? []).some((volume) => {
      const { configMaps, secrets } = projectedSources(volume);
      return (kind === 'ConfigMap' ? configMaps : secrets).includes(name);
    });
  }

  /**
   * The mounts of a container, in the order in which they have to be made.
   * @throws Error when a volumeMount names a volume that is not set up, or a subPath leads out of its volume
   */
  mounts(container: IContainer, env: Readonly<Record<string, string>>): Mount[] {
    const mounts = (container.volumeMounts ?? []).map((stated): Mount => {
      const { name, mountPath, readOnly, subPath, subPathExpr, mountPropagation = 'None' } = stated;
      const mounted = this.#mounted.get(name);
      if (mounted === undefined)
        throw new Error(`cannot find volume "${name}" to mount into container "${container.name}"`);
      const path = subPathExpr ? expandVariables(subPathExpr, (variable) => env[variable]) : subPath;
      return {
        path: `/${mountPath.split('/').filter(Boolean).join('/')}`,
        node: path ? bind(mounted, path) : mounted.node,
        volume: mounted.volume,
        readOnly: readOnly === true || mounted.readOnly,
        ...below(mounted, path, mountPropagation !== 'None'),
      };
    });
    return mounts.sort((a, b) => a.path.split('/').length - b.path.split('/').length);
  }

  #mount(pod: Stored<Pod>, volume: IVolume, facts: DownwardFacts): Mounted {
    const { objects, disk } = this.#world;
    const fsGroup = pod.spec.securityContext?.fsGroup;
    const files = projectedFiles(pod, volume, facts, objects);
    if (files) {
      const target = emptyVolume({ ownership: { mode: 0o777 } });
      const mounted: Mounted = { node: target.root, volume: target, readOnly: true, files };
      this.#write(pod, mounted, files);
      return mounted;
    }
    if (volume.emptyDir) {
      const capacity = quantityNumber(volume.emptyDir.sizeLimit);
      const target = emptyVolume({
        ownership: { mode: 0o777 },
        ...(Number.isFinite(capacity) && capacity > 0 && { capacity }),
      });
      if (fsGroup !== undefined) applyFsGroup(target.root, fsGroup, false);
      return { node: target.root, volume: target, readOnly: false };
    }
    if (volume.hostPath) {
      return { ...hostPathOn(disk, volume.hostPath), from: volume.hostPath.path, readOnly: false };
    }
    if (volume.persistentVolumeClaim) {
      return this.#claim(pod, volume.persistentVolumeClaim.claimName, volume.persistentVolumeClaim.readOnly === true);
    }
    const [sort = 'unknown'] = Object.keys(volume).filter((key) => key !== 'name');
    throw new Error(`the sandbox does not serve volumes of the sort ${sort}`);
  }

  #claim(pod: Stored<Pod>, claimName: string, readOnly: boolean): Mounted {
    const { objects, storage, disk } = this.#world;
    const claim = objects.get(PersistentVolumeClaim, `${pod.metadata.namespace}/${claimName}`);
    if (!claim) throw new Error(`persistentvolumeclaim "${claimName}" not found`);
    const volumeName = claim.spec.volumeName;
    if (claim.status?.phase !== 'Bound' || !volumeName) throw new Error(`PVC is not bound`);
    const persistentVolume = objects.get(PersistentVolume, volumeName);
    if (!persistentVolume) throw new Error(`persistentvolume "${volumeName}" not found`);
    const { hostPath, local } = persistentVolume.spec;
    if (hostPath) {
      return { ...hostPathOn(disk, hostPath), readOnly };
    }
    const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {};
    const volume = local
      ? { ...disk, root: hostPathNode(disk.root, local.path, '') as DirectoryNode }
      : storage.attach(persistentVolume, { nodeName: pod.spec.nodeName ?? '', podUid: pod.metadata.uid });
    const matches = volume.root.gid === fsGroup && (volume.root.mode & 0o2770) === 0o2770;
    if (fsGroup !== undefined && !(fsGroupChangePolicy === 'OnRootMismatch' && matches)) {
      applyFsGroup(volume.root, fsGroup, readOnly);
    }
    return { node: volume.root, volume, readOnly };
  }

  #write(pod: Stored<Pod>, mounted: Mounted, files: ReadonlyMap<string, ProjectedFile>): void {
    const stamp = `${timestamp(this.#world.clock).slice(0, 19).replace(/[-T:]/g, '_')}.${String(this.#versions++).padStart(9, '0')}`;
    writeProjectedFiles(mounted.volume.root, files, stamp, pod.spec.securityContext?.fsGroup);
    mounted.files = files;
  }
}

/** The file systems that a container sees below a path of its node: those of when it starts, or of now where it `follows`. */
function below({ volume, from }: Mounted, subPath: string | undefined, follows: boolean): Pick<Mount, 'below'> {
  if (from === undefined || volume.mounts === undefined) return {};
  const mounts = follows ? volume.mounts : new Map(volume.mounts);
  return { below: { from: `/${segments(`${from}/${subPath ?? ''}`).join('/')}`, mounts } };
}

/** What a subPath leads to; made as a directory where nothing is, as the kubelet does. */
function bind(mounted: Mounted, subPath: string): TreeNode {
  if (subPath.startsWith('/') || subPath.split('/').includes('..')) {
    throw new Error(`subPath "${subPath}" leads out of its volume`);
  }
  const { node } = mounted;
  if (node.type !== 'directory') throw new Error(`not a directory: subPath "${subPath}" of a file`);
  const found = lookUp(node, subPath);
  if (found) return found;
  const made = directoryAt(node, subPath.split('/').filter(Boolean));
  made.mode = node.mode;
  made.gid = (node.mode & 0o2000) === 0 ? 0 : node.gid;
  return made;
}

function failure(volume: IVolume, error: unknown): VolumeFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith('Multi-Attach error')) return { reason: 'FailedAttachVolume', message };
  return { reason: 'FailedMount', message: `MountVolume.SetUp failed for volume "${volume.name}" : ${message}` };
}

function sameFiles(a: ReadonlyMap<string, ProjectedFile>, b: ReadonlyMap<string, ProjectedFile>): boolean {
  if (a.size !== b.size) return false;
  for (const [path, { content, mode }] of a) {
    const other = b.get(path);
    if (other?.content !== content || other.mode !== mode) return false;
  }
  return true;
}
