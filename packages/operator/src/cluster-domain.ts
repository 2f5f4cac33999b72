/**
 * The cluster's DNS domain, from the search list that the kubelet writes into a pod's resolv.conf
 * (`search <namespace>.svc.<domain> svc.<domain> <domain>`); undefined outside a pod.
 */
export function clusterDomainOf(resolvConf: string): string | undefined {
  const searched = resolvConf.split('\n').findLast((line) => /^\s*search\s/.test(line)) ?? '';
  const service = searched
    .trim()
    .split(/\s+/)
    .find((domain) => domain.startsWith('svc.'));
  return service?.slice('svc.'.length);
}
