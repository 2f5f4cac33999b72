import type { IContainer, IObjectFieldSelector, IResourceFieldSelector } from 'kubernetes-models/v1';
import type { Pod, Stored } from '../cluster/kinds.ts';
import { quantityNumber } from '../resources/quantity.ts';

/** What the downward API knows beside the pod itself. */
export interface DownwardFacts {
  readonly podIp: string;
  readonly hostIp: string;
  /** What a container without limits may use at most. */
  readonly allocatable: Readonly<Record<string, string | number>>;
}

/**
 * The value of a `fieldRef`.
 * @throws Error for a field path that the kubelet does not know
 */
export function fieldValue(pod: Stored<Pod>, facts: DownwardFacts, selector: IObjectFieldSelector): string {
  const { metadata, spec } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(selector.fieldPath);
  if (subscript) return metadata[subscript[1] as 'labels' | 'annotations']?.[subscript[2] ?? ''] ?? '';
  switch (selector.fieldPath) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return facts.hostIp;
    case 'status.podIP':
    case 'status.podIPs':
      return facts.podIp;
    default:
      throw new Error(`unsupported fieldPath: ${selector.fieldPath}`);
  }
}

/**
 * The value of a `resourceFieldRef`: in units of its divisor, rounded up; the node's allocatable where there is no limit.
 * @throws Error when the container or the resource is unknown
 */
export function resourceValue(
  container: IContainer | undefined,
  facts: DownwardFacts,
  selector: IResourceFieldSelector,
): string {
  if (!container) throw new Error(`container ${selector.containerName} not found`);
  const [kind = '', name = ''] = splitOnce(selector.resource, '.');
  if (kind !== 'limits' && kind !== 'requests')
    throw new Error(`unsupported container resource : ${selector.resource}`);
  const { limits, requests } = container.resources ?? {};
  const own = kind === 'limits' ? limits?.[name] : requests?.[name];
  const amount = quantityNumber(own ?? (kind === 'limits' ? facts.allocatable[name] : 0) ?? 0);
  const divisor = quantityNumber(selector.divisor ?? 1) || 1;
  return String(Math.ceil(amount / divisor));
}

/** `key="value"` lines, sorted by key (pkg/fieldpath). */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
