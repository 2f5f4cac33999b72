import { type KubeObject, PersistentVolumeClaim } from '@openstack-operator/kube';
import { type Composition, prefix, type Step } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/** Annotation by which a user accepts that a volume's data are gone: the uid of the new claim. */
export const acceptLossAnnotation = `${prefix}/accept-data-loss`;

/** Claim name -> uid, as it stands in `status.volumes`. */
export type Volumes = Readonly<Record<string, string>>;

/** The volumes of a composition: what is known of them, and the steps with a problem where one was lost. */
export interface VolumeCheck {
  readonly volumes: Volumes;
  readonly steps: readonly Step[];
}

/**
 * Compares the claims of a composition with those that the status remembers. A claim with another uid is another,
 * empty volume: the step that uses it stops with a condition that names it, instead of a service that begins anew.
 */
export function checkVolumes(pass: Pass, composition: Composition): VolumeCheck {
  const before = ((pass.object['status'] ?? {}) as { volumes?: Volumes }).volumes ?? {};
  const accepted = pass.object.metadata.annotations?.[acceptLossAnnotation];
  const volumes: Record<string, string> = { ...before };
  const steps = composition.steps.map((step): Step => {
    const lost: string[] = [];
    for (const { namespace, name } of step.objects.flatMap((desired) =>
      'object' in desired ? claimsOf(desired.object) : [],
    )) {
      const live = pass.cache.get(PersistentVolumeClaim, { namespace, name });
      const known = before[name];
      if (live === undefined) {
        if (known !== undefined) lost.push(`PersistentVolumeClaim ${name} was deleted`);
      } else if (known === live.metadata.uid && live.metadata.deletionTimestamp !== undefined) {
        lost.push(`PersistentVolumeClaim ${name} is being deleted, and goes when no pod uses it`);
      } else if (known === undefined || known === live.metadata.uid || accepted === live.metadata.uid) {
        volumes[name] = live.metadata.uid;
      } else {
        lost.push(`PersistentVolumeClaim ${name} was replaced by an empty one (uid ${live.metadata.uid})`);
      }
    }
    if (lost.length === 0 || step.problem !== undefined) return step;
    const way = `restore its data from a backup; then, or to begin without them, annotate this resource ${acceptLossAnnotation}=<uid of the claim>`;
    return { ...step, problem: { reason: 'VolumeLost', message: `${lost.join('; ')}: ${way}` } };
  });
  return { volumes, steps };
}

/** The claims that an object means: its own name, or those that a StatefulSet makes of its templates. */
function claimsOf({
  kind,
  metadata: { name = '', namespace = '' },
  spec,
}: KubeObject): { namespace: string; name: string }[] {
  if (kind === 'PersistentVolumeClaim') return [{ namespace, name }];
  if (kind !== 'StatefulSet') return [];
  const { volumeClaimTemplates: claims = [], replicas = 1 } = spec as {
    volumeClaimTemplates?: { metadata: { name: string } }[];
    replicas?: number;
  };
  return claims.flatMap((claim) =>
    Array.from({ length: replicas }, (_, ordinal) => ({
      namespace,
      name: `${claim.metadata.name}-${name}-${ordinal}`,
    })),
  );
}
