/** The current phase of the process: the setup, or the service. The HTTP server outlives the change. */
export type Phase = {
  fetch(request: Request, env: object): Response | Promise<Response>;
  /** Called when it is reachable. */
  start(): Promise<void>;
  close(): Promise<void>;
};
