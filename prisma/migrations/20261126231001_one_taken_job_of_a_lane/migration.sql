-- CreateIndex: beside readers and writers, so it is the only statement.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "jobs_lane_key" ON "jobs"("lane") WHERE "is_taken";
