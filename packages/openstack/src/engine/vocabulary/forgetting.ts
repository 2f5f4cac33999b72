/**
 * How what a service has recorded of a host that is gone for ever is deleted by its API: `openstack-operator forget` does it, as
 * an administrator.
 */
export interface Forgetting {
  /** What the records are, in the plural, for messages: `agents`. */
  readonly of: string;
  /** Path that lists those of `{host}`, each with `id` and `host`. */
  readonly list: string;
  /** Key of the list. */
  readonly items: string;
  /** Path of one, `{id}`. */
  readonly record: string;
  /** What requests carry besides: the version of an API that has several. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The attribute by which one shows that its process runs, and its value then: such a host is not gone. */
  readonly alive: readonly [attribute: string, value: unknown];
}

/** What `openstack-operator forget` takes, as JSON. */
export interface ForgetPlan extends Forgetting {
  readonly hosts: readonly string[];
}
