import type { ConfigSet } from '../configuration/config.ts';
import { defined } from '../names/defined.ts';
import type { Mount } from '../vocabulary/component.ts';
import type { ExtraVolume } from '../vocabulary/surroundings.ts';
import type { PodInput } from './pod.ts';

/** Volumes of users are called so. */
const extra = 'extra-';

/** Whether a volume of a pod is what users mount besides (`extraVolumes`). */
export const isOfUsers = ({ name = '' }: { readonly name?: string }): boolean => name.startsWith(extra);

/** Where clients look for it. */
const apiAccessPath = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a pod needs to ask Kubernetes, as its admission would add it; stated, so that nothing else adds a token. */
const apiAccess = [
  { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
];

/** Collects the volumes of a pod and where they are mounted. */
export class PodVolumes {
  readonly volumes: Record<string, unknown>[] = [];
  readonly mounts: Record<string, unknown>[] = [];

  constructor(input: Pick<PodInput, 'configs' | 'mounts' | 'overrides' | 'ownClaims' | 'serviceAccount'>) {
    for (const set of input.configs) this.#config(set);
    this.mounts.push({ name: 'tmp', mountPath: '/tmp' });
    this.volumes.push({ name: 'tmp', emptyDir: {} });
    if (input.serviceAccount !== undefined) {
      this.volumes.push({ name: 'kube-api-access', projected: { sources: apiAccess } });
      this.mounts.push({ name: 'kube-api-access', mountPath: apiAccessPath, readOnly: true });
    }
    // Two sets may speak of the same file.
    const ofConfigs = new Map(input.configs.flatMap((set) => set.mounts).map((mount) => [mount.path, mount]));
    for (const mount of [...(input.mounts ?? []), ...ofConfigs.values()]) this.#mount(mount, input.ownClaims ?? []);
    for (const extra of input.overrides?.extraVolumes ?? []) this.#extra(extra);
  }

  #config({ volume, configMap, paths, secretFiles, secretPaths }: ConfigSet): void {
    if (configMap !== undefined)
      this.volumes.push({ name: volume, configMap: { name: configMap, defaultMode: 0o444 } });
    this.#files(volume, paths);
    const secretVolume = `${volume}-secret`;
    if (secretFiles !== undefined)
      this.volumes.push({ name: secretVolume, secret: { secretName: secretFiles, defaultMode: 0o440 } });
    this.#files(secretVolume, secretPaths);
  }

  /** File by file: what the image itself has beside them (api-paste.ini, rootwrap.d) stays visible. */
  #files(name: string, paths: Readonly<Record<string, string>>): void {
    for (const [mountPath, subPath] of Object.entries(paths)) {
      this.mounts.push({ name, mountPath, subPath, readOnly: true });
    }
  }

  #mount(mount: Mount, ownClaims: readonly string[]): void {
    const name = 'claim' in mount ? mount.claim : volumeName(mount.path);
    if ('secret' in mount) {
      const items = mount.keys?.map((key) => ({ key, path: key }));
      this.#volume(name, { secret: defined({ secretName: mount.secret, items, defaultMode: 0o440 }) });
      this.mounts.push(defined({ name, mountPath: mount.path, subPath: mount.key, readOnly: true }));
      return;
    }
    if ('configMap' in mount) {
      this.#volume(name, { configMap: { name: mount.configMap, defaultMode: 0o444 } });
      this.mounts.push({ name, mountPath: mount.path, readOnly: true });
      return;
    }
    if ('secrets' in mount) {
      const sources = mount.secrets.map((secret) => ({ secret: { name: secret } }));
      this.#volume(name, { projected: { sources, defaultMode: 0o440 } });
      this.mounts.push({ name, mountPath: mount.path, readOnly: true });
      return;
    }
    if ('claim' in mount) {
      if (!ownClaims.includes(name)) this.#volume(name, { persistentVolumeClaim: { claimName: mount.claim } });
      this.mounts.push(defined({ name, mountPath: mount.path, subPath: mount.subPath }));
      return;
    }
    if ('host' in mount) {
      this.#volume(name, { hostPath: { path: mount.from ?? mount.path, type: mount.host } });
      this.mounts.push(
        defined({
          name,
          mountPath: mount.path,
          mountPropagation:
            mount.shared === true ? 'Bidirectional' : mount.follows === true ? 'HostToContainer' : undefined,
          readOnly: mount.readOnly,
        }),
      );
      return;
    }
    this.#volume(name, {
      emptyDir: defined({ medium: mount.memory === true ? 'Memory' : undefined, sizeLimit: mount.size }),
    });
    this.mounts.push({ name, mountPath: mount.path });
  }

  /** Its name is told apart from those of the operator's own. */
  #extra({ name: own, mountPath, subPath, readOnly, ...source }: ExtraVolume): void {
    const name = `${extra}${own}`;
    this.#volume(name, source);
    this.mounts.push(defined({ name, mountPath, subPath, readOnly }));
  }

  #volume(name: string, source: Record<string, unknown>): void {
    if (!this.volumes.some((volume) => volume['name'] === name)) this.volumes.push({ name, ...source });
  }
}

/** A DNS label made of a path: `/var/lib/nova` -> `var-lib-nova`. */
function volumeName(path: string): string {
  return path
    .slice(1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63);
}
