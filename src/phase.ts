/** What the process is at the moment: being set up, or the service. The HTTP server outlives the change. */
export type Phase = {
  fetch(request: Request, env: object): Response | Promise<Response>;
  /** Called once somebody can reach it. */
  start(): Promise<void>;
  close(): Promise<void>;
};
