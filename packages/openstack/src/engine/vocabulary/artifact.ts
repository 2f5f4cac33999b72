/**
 * Files that a Job makes and others mount: the Secret `<name>-<suffix>`, which the operator makes empty, and the Job fills
 * when its programs have run. Its `access` has to hold `publishing(suffix)`.
 */
export interface Artifact {
  readonly suffix: string;
  /** Absolute paths of the files that its programs leave, in a mount of the Job. */
  readonly files: readonly string[];
  /** Files that come with a change of the resource: what was published before a run for it has none of them. */
  readonly later?: readonly string[];
  /** What is lost without it: once made, it is never made anew while nobody has restored it. */
  readonly data: string;
  /**
   * A volume claim with such data: where an earlier resource has left it, the Secret has to be there with its files. Without
   * it the programs have to find out themselves what an earlier resource has left.
   */
  readonly volume?: string;
  /**
   * A directory, in a mount of the Job, in which each run finds the files that the one before has published, and goes on
   * from there. What somebody else has published meanwhile is never overwritten: the run begins anew. Default: each run
   * makes them from nothing.
   */
  readonly from?: string;
  /**
   * Suffix of a Secret where an earlier operator has published the same: it is told by the key `superseded` that what it has
   * is current no more. The Job's `access` has to hold `publishing` of it as well.
   */
  readonly supersedes?: string;
}
