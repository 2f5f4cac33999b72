import type { Pod } from '../cluster/kinds.ts';
import { qualityOfService } from '../resources/builtin/quality-of-service.ts';
import type { JsonObject } from '../resources/json.ts';
import { quantityNumber } from '../resources/quantity.ts';
import type { ContainerSlot } from './container-slot.ts';

/** `oom_score_adj` of a container's processes, as the kubelet sets it (pkg/kubelet/qos/policy.go). */
export function oomScoreAdjOf(
  { spec }: Pod,
  container: ContainerSlot['spec'],
  capacity: Readonly<Record<string, string | number>>,
): number {
  const quality = qualityOfService(spec as unknown as JsonObject);
  if (spec.priorityClassName === 'system-node-critical' || quality === 'Guaranteed') return -997;
  if (quality === 'BestEffort') return 1000;
  const requested = quantityNumber(container.resources?.requests?.['memory'] ?? 0);
  return Math.min(999, Math.max(3, Math.floor(1000 - (1000 * requested) / quantityNumber(capacity['memory']))));
}
