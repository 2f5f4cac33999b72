import type { IContainer } from 'kubernetes-models/v1';
import type { Pod, Stored } from '../cluster/kinds.ts';
import type { Identity } from '../programs/file-system.ts';
import type { Image } from '../programs/program.ts';

/** Capabilities that containerd leaves a container whose securityContext says nothing of them. */
const usualCapabilities =
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  );

/**
 * Whose rights the processes of a container have: the container's securityContext before the pod's, before the image's
 * USER.
 * @throws Error with the kubelet's words when runAsNonRoot meets root
 */
export function containerIdentity(pod: Stored<Pod>, container: IContainer, image: Image): Identity {
  const own = container.securityContext ?? {};
  const shared = pod.spec.securityContext ?? {};
  const uid = own.runAsUser ?? shared.runAsUser ?? image.user ?? 0;
  if ((own.runAsNonRoot ?? shared.runAsNonRoot) === true && uid === 0) {
    const asked = own.runAsUser ?? shared.runAsUser;
    const why =
      asked === 0
        ? "container's runAsUser breaks non-root policy"
        : 'container has runAsNonRoot and image will run as root';
    const { name, namespace, uid: podUid } = pod.metadata;
    throw new Error(`${why} (pod: "${name}_${namespace}(${podUid})", container: ${container.name})`);
  }
  const privileged = own.privileged === true;
  const { add = [], drop = [] } = own.capabilities ?? {};
  const left = drop.includes('ALL') ? [] : usualCapabilities.filter((name) => !drop.includes(name));
  const has = (name: string) => privileged || [...left, ...add].some((one) => one === name || one === 'ALL');
  const isRoot = uid === 0;
  return {
    uid,
    gid: own.runAsGroup ?? shared.runAsGroup ?? 0,
    groups: [...(shared.fsGroup === undefined ? [] : [shared.fsGroup]), ...(shared.supplementalGroups ?? [])],
    privileged,
    overridesPermissions: isRoot && has('DAC_OVERRIDE'),
    mayHave: (capability) => (isRoot || own.allowPrivilegeEscalation !== false) && has(capability),
  };
}
