import { sleep } from '@openstack-operator/kube';
import type { Image } from '../programs/program.ts';
import type { ContainerSlot } from './container-slot.ts';
import type { NodeContext } from './node-context.ts';

/** An image, or why there is none yet. */
export type PullResult =
  | { readonly image: Image }
  | { readonly reason: string; readonly message: string; readonly retryAt: number };

const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 300_000;
/** A failed pull wakes the pod again this soon: it then shows ImagePullBackOff. */
const SOON_MS = 2_000;
const NEVER_RETRY_MS = 10_000;

/**
 * Finds a container's image on the node, or fetches it (pkg/kubelet/images/image_manager.go). `say` records events.
 */
export async function ensureImage(
  slot: ContainerSlot,
  node: NodeContext,
  say: (reason: string, message: string, type: 'Normal' | 'Warning') => void,
): Promise<PullResult> {
  const reference = slot.spec.image ?? '';
  const policy = slot.spec.imagePullPolicy ?? (/:latest$|^[^:@]+$/.test(reference) ? 'Always' : 'IfNotPresent');
  const image = node.images.find((candidate) => candidate.matches(reference));
  const present = node.pulled.has(reference);
  if (present && image && policy !== 'Always') {
    say('Pulled', `Container image "${reference}" already present on machine and can be accessed by the pod`, 'Normal');
    return { image };
  }
  const now = node.clock.now();
  if (policy === 'Never') {
    const message = `Container image "${reference}" is not present with pull policy of Never`;
    say('ErrImageNeverPull', message, 'Warning');
    return { reason: 'ErrImageNeverPull', message, retryAt: now + NEVER_RETRY_MS };
  }
  if (slot.pull && now < slot.pull.until) {
    const message = `Back-off pulling image "${reference}"`;
    say('BackOff', message, 'Normal');
    return {
      reason: 'ImagePullBackOff',
      message: `${message}: ErrImagePull: ${slot.pull.message}`,
      retryAt: slot.pull.until,
    };
  }
  say('Pulling', `Pulling image "${reference}"`, 'Normal');
  const pullMs = present ? 0 : node.timings.imagePull;
  if (pullMs > 0) await sleep(node.clock, pullMs);
  if (image) {
    node.pulled.add(reference);
    slot.pull = undefined;
    say(
      'Pulled',
      `Successfully pulled image "${reference}" in ${pullMs}ms (${pullMs}ms including waiting). Image size: 0 bytes.`,
      'Normal',
    );
    return { image };
  }
  const message = `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}": ${reference}: not found`;
  say('Failed', `Failed to pull image "${reference}": rpc error: code = NotFound desc = ${message}`, 'Warning');
  say('Failed', 'Error: ErrImagePull', 'Warning');
  const ms = slot.pull ? Math.min(slot.pull.ms * 2, LONGEST_BACK_OFF_MS) : FIRST_BACK_OFF_MS;
  slot.pull = { ms, until: node.clock.now() + ms, message };
  return { reason: 'ErrImagePull', message, retryAt: node.clock.now() + SOON_MS };
}
