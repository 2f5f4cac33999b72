/** Something in which objects come, are reconciled, and go, as often as one likes. */
export interface Stage {
  /** Reconciles so far. */
  passes(): Promise<number>;
  /** Creates objects, waits until all are Ready, deletes them, waits until all are gone. Gives how many they were. */
  cycle(first: number): Promise<number>;
  /**
   * Lets all that is kept for some time only run out (a series of events after six minutes, a back-off after 17, an
   * event after an hour), and the API server forget its history.
   */
  rest(): Promise<void>;
  stop(): Promise<void>;
}
