/** The current phase of the process: the setup, or the service. The HTTP server outlives the change. */
export type Phase = {
  fetch(request: Request, env: object): Response | Promise<Response>;
  /** Called when it is reachable. */
  start(): Promise<void>;
  /** @param answered resolves when no request needs it any more; without it, none does. */
  close(answered?: Promise<void>): Promise<void>;
};
