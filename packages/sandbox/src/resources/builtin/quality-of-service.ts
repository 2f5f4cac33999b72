import { type JsonObject, objectOf, objectsOf } from '../json.ts';
import { compareQuantities } from '../quantity.ts';

/** A pod's class of service by its containers' cpu and memory: what the kubelet evicts first. */
export function qualityOfService(spec: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const containers = [...objectsOf(spec.initContainers), ...objectsOf(spec.containers)];
  let any = false;
  let guaranteed = true;
  for (const container of containers) {
    const resources = objectOf(container.resources);
    const limits = objectOf(resources.limits);
    const requests = objectOf(resources.requests);
    for (const name of ['cpu', 'memory']) {
      const limit = amount(limits[name]);
      const request = amount(requests[name]) ?? limit;
      if (limit !== undefined || request !== undefined) any = true;
      if (limit === undefined || request === undefined || compareQuantities(limit, request) !== 0) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** Zero counts as not given. */
function amount(value: unknown): string | undefined {
  return typeof value === 'string' && compareQuantities(value, '0') > 0 ? value : undefined;
}
