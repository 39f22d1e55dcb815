-- CreateTable
CREATE TABLE "jobs" (
    "id" BIGSERIAL NOT NULL,
    "task" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "about" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "attempt" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "is_taken" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "jobs_task_due_at_id_idx" ON "jobs"("task", "due_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "jobs_task_key_key" ON "jobs"("task", "key") WHERE NOT "is_taken";

-- The time of the queue. Tests set another.
CREATE FUNCTION job_now() RETURNS TIMESTAMPTZ LANGUAGE sql STABLE AS 'SELECT now()';

-- Versions before kept their jobs in the tables of pg-boss. What waits there waits here too, and so does what a process
-- of the version before still sends. That version finds its own jobs where it left them.
DO $$
BEGIN
  IF to_regclass('pgboss.job') IS NULL THEN RETURN; END IF;

  CREATE FUNCTION pgboss.carry_job() RETURNS trigger LANGUAGE plpgsql AS $carry$
  BEGIN
    INSERT INTO public.jobs (task, key, about, data, attempt, due_at) VALUES
      (NEW.name, NEW.singleton_key, NEW.data->>'about', NEW.data->'data', (NEW.data->>'attempt')::int, NEW.start_after)
    ON CONFLICT (task, key) WHERE NOT is_taken DO UPDATE SET is_taken = false;
    RETURN NULL;
  END $carry$;
  CREATE TRIGGER carry_job AFTER INSERT OR UPDATE ON pgboss.job
    FOR EACH ROW WHEN (NEW.state = 'created') EXECUTE FUNCTION pgboss.carry_job();

  INSERT INTO jobs (task, key, about, data, attempt, due_at)
  SELECT name, singleton_key, data->>'about', data->'data', (data->>'attempt')::int, start_after
  FROM pgboss.job WHERE state <= 'active' ORDER BY created_on, id
  ON CONFLICT DO NOTHING;
END $$;
