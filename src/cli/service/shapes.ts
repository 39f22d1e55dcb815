// The answers of the API, as far as commands read them. Commands pass on unknown fields unchanged.

type Conditions = unknown[];

export type Freeze = {
  id: string;
  reason: string;
  start: string;
  end: string | null;
  timezone: string;
  matching_conditions: Conditions;
  exclude_conditions?: Conditions;
  plan_id?: string;
  warnings?: string[];
};

export type Occurrence = { start: string; end: string | null; starts_at: string; ends_at: string | null };

export type Plan = {
  id: string;
  name: string;
  reason: string;
  repositories: { include: string[]; exclude: string[] };
  start: string;
  end: string | null;
  timezone: string;
  recurrence: { rule: string; except: string[]; until: string | null } | null;
  repositories_matched: number;
  not_enforced: string[];
  next_occurrences: Occurrence[];
  created_by: { name: string };
  warnings?: string[];
};

/** How far a freeze is enforced. */
export type Enforcement = {
  phase: 'scheduled' | 'ongoing';
  switched_on: boolean;
  enforced: boolean | 'unknown';
  pull_requests: { to_hold: number | null; held: number };
  leaking: number[];
  not_held: { pull_request: number; reason: string }[];
  waiting_writes: number;
  look_due: boolean;
};

export type Exemption = {
  id: string;
  pull_request: number;
  state: string;
  reason: string;
  requested_by: { name: string };
  expires_at: string;
  url: string;
};

export type AuditEvent = {
  id: number;
  received_at: string;
  repository: string | null;
  pull_request: number | null;
  outcome: string;
  type: string;
  metadata: Record<string, unknown>;
};
