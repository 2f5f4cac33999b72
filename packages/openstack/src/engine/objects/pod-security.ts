import type { HostAccess } from '../vocabulary/component.ts';
import type { PodInput } from './pod.ts';

/**
 * Whether containers may be more than their user: setuid programs such as sudo give them the capabilities that they have,
 * and their image's files can be written.
 */
function isElevated({ privileged, capabilities }: HostAccess): boolean {
  return privileged === true || capabilities !== undefined;
}

/** The security context of a pod: restricted (Pod Security Standards), apart from the access to the host that it asks for. */
export function podSecurity(
  { host = {}, nodeAgent, configs, mounts = [] }: Pick<PodInput, 'host' | 'nodeAgent' | 'configs' | 'mounts'>,
  uid: number,
): Record<string, unknown> {
  const user = { runAsUser: uid, runAsGroup: uid };
  // What a node agent has lies on the node, and belongs to whom it belongs there; but for files that are Secrets, which root
  // reads in any case.
  if (nodeAgent !== undefined) {
    const ofConfigs = configs.some((set) => set.secretFiles !== undefined || set.mounts.length > 0);
    const ownSecrets = uid !== 0 && mounts.some((mount) => 'secret' in mount);
    return ofConfigs || ownSecrets ? { ...user, fsGroup: uid } : user;
  }
  const owned = { ...user, fsGroup: uid, fsGroupChangePolicy: 'OnRootMismatch' };
  return isElevated(host) ? owned : { runAsNonRoot: true, ...owned, seccompProfile: { type: 'RuntimeDefault' } };
}

/** The security context of each of its containers. */
export function containerSecurity(host: HostAccess, uid: number): Record<string, unknown> {
  if (host.privileged === true) return { privileged: true, runAsUser: uid };
  if (isElevated(host))
    return {
      runAsUser: uid,
      capabilities: { drop: ['ALL'], add: [...(host.capabilities ?? [])] },
      ...(host.unconfined === true ? { appArmorProfile: { type: 'Unconfined' } } : {}),
    };
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: uid,
    capabilities: { drop: ['ALL'] },
  };
}
