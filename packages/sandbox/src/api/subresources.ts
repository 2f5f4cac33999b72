/** A subresource that is no part of the object: what it takes and gives, and the verbs it has. */
export interface SubresourceKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

const READ_WRITE = ['get', 'patch', 'update'];

/** The subresources that the sandbox offers, where the kind has them; undefined stands for the kind itself. */
export const OFFERED_SUBRESOURCES: Readonly<Record<string, Partial<SubresourceKind> & Pick<SubresourceKind, 'verbs'>>> =
  {
    status: { verbs: READ_WRITE },
    scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: READ_WRITE },
    eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
    binding: { kind: 'Binding', verbs: ['create'] },
    log: { verbs: ['get'] },
    finalize: { verbs: ['update'] },
    token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
  };
