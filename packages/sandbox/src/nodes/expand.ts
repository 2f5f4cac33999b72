/**
 * Replaces `$(NAME)` by what `lookup` gives, as the kubelet does in command, args and env values
 * (k8s.io/kubernetes/third_party/forked/golang/expansion): an unknown name stays as it stands, `$$` is one `$`.
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  if (!text.includes('$')) return text;
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return lookup(name) ?? whole;
  });
}
