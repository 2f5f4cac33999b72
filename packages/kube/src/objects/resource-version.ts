const COMPARABLE = /^(0|[1-9][0-9]*)$/;

/**
 * Which of two resourceVersions of one kind is newer: below 0 when `a` is older, 0 when they are the same, above 0 when
 * `a` is newer, undefined when they have no order.
 *
 * Servers that keep their objects in etcd have always counted up in whole numbers; since Kubernetes 1.35 that is a
 * promise (KEP-5504: decimal digits without leading zeros, any length). Aggregated API servers may still hand out
 * opaque texts, of which only equality is known.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!COMPARABLE.test(a) || !COMPARABLE.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}
