# Repeats the primary analysis of the report from answers.csv with other software than the report's.
#
#   Rscript analysis.R        in the folder of the report
#
# Needs R 4.1 or later with the packages ordinal, lme4 and lmerTest:
#   install.packages(c("ordinal", "lme4", "lmerTest"))
#   or on Debian and Ubuntu: apt-get install r-base-core r-cran-ordinal r-cran-lme4 r-cran-lmertest
# The random effects are those of the report: spectrum (and task), trace, scorer, scorer by source.

suppressPackageStartupMessages({
  library(lme4)
  library(lmerTest)
  library(ordinal)
})

texts <- c("source", "left_source", "right_source", "preferred_source", "preference", "task")
flags <- c("excluded", "exposed", "reveals")
types <- c(setNames(rep("character", length(texts)), texts), setNames(rep("logical", length(flags)), flags))
answers <- read.csv("answers.csv", encoding = "UTF-8", na.strings = "", comment.char = "", colClasses = types)

line <- function(name, value, low, high, more = "") {
  cat(sprintf("%-46s %7.3f (%.3f to %.3f)%s\n", name, value, low, high, more))
}

# Effects that can be told apart: with fewer levels than answers, and nested ones with more levels than the outer ones.
random_effects <- function(rows) {
  levels_of <- function(name) length(unique(rows[[name]]))
  n <- nrow(rows)
  terms <- c(
    if (levels_of("block") > 1 && levels_of("block") < levels_of("trace")) "(1 | block)",
    if (levels_of("trace") > 1 && levels_of("trace") < n) "(1 | trace)",
    if (levels_of("scorer") > 1 && levels_of("scorer") < n) "(1 | scorer)",
    if (levels_of("scorer") > 1 && levels_of("taste") > levels_of("scorer") && levels_of("taste") < n) "(1 | taste)"
  )
  paste(terms, collapse = " + ")
}

prepare <- function(rows) {
  rows$source <- factor(rows$source, levels = c(second, first))
  # A row with pictures only has no spectrum and is a block of its own.
  rows$block <- factor(ifelse(is.na(rows$spectrum), paste("item", rows$item), paste(rows$spectrum, rows$task)))
  rows$trace <- factor(rows$item)
  rows$scorer <- factor(rows$scorer)
  rows$taste <- interaction(rows$scorer, rows$source, drop = TRUE)
  rows
}

# Mean of the first source less that of the second: linear mixed model, REML, Satterthwaite's degrees of freedom.
linear <- function(name, rows, confidence = 0.95) {
  rows <- rows[!is.na(rows$score), ]
  if (length(unique(rows$source)) < 2) {
    cat(sprintf("%-46s no score of one of the sources\n", name))
    return(invisible(NULL))
  }
  rows <- prepare(rows)
  effects <- random_effects(rows)
  if (effects == "") {
    cat(sprintf("%-46s no random effect can be estimated\n", name))
    return(invisible(NULL))
  }
  fit <- tryCatch(
    suppressMessages(lmer(as.formula(paste("score ~ source +", effects)), data = rows)),
    error = function(e) e
  )
  if (inherits(fit, "error")) {
    cat(sprintf("%-46s not fitted: %s\n", name, conditionMessage(fit)))
    return(invisible(NULL))
  }
  found <- coef(summary(fit))[2, ]
  half <- qt((1 + confidence) / 2, found[["df"]]) * found[["Std. Error"]]
  more <- sprintf("  df %.1f, n = %d scores", found[["df"]], nrow(rows))
  line(name, found[["Estimate"]], found[["Estimate"]] - half, found[["Estimate"]] + half, more)
  invisible(list(fit = fit, estimate = found[["Estimate"]], half = half))
}

scores <- function() {
  rows <- answers[answers$kind == "scores" & answers$use == "result" & answers$source %in% c(first, second), ]
  rows <- rows[!is.na(rows$at), ]
  rows$score <- rows[[dimension]]
  rows$unable <- is.na(rows$score)
  rows$first_score <- rows[[paste0("first_", dimension)]]
  primary <- rows[!rows$excluded, ]
  cat(sprintf("%s, %s less %s\n\n", dimension, first, second))

  cat("Linear mixed model, points of the scale, 95 % intervals\n")
  found <- linear("primary", primary)
  if (is.null(found)) return(invisible(NULL))
  print(as.data.frame(VarCorr(found$fit))[, c("grp", "vcov")], row.names = FALSE)
  if (isSingular(found$fit)) cat("A variance is 0 (singular fit); the report's own fit allows scorers' below 0.\n")
  if (!is.na(margin)) {
    ninety <- linear("primary, 90 % interval", primary, 0.90)
    equivalent <- abs(ninety$estimate) + ninety$half < margin
    cat(sprintf("equivalent within %g points: %s\n", margin, if (equivalent) "yes" else "not shown"))
  }

  cat("\nSensitivity, the same model\n")
  if (any(rows$excluded & !(without_revealing & rows$reveals))) {
    linear("all scorers", rows[!(without_revealing & rows$reveals), ])
  }
  linear("without traces that reveal their author", primary[!primary$reveals, ])
  linear("without traces seen in earlier sessions", primary[!primary$exposed, ])
  linear("first answers instead of the last", transform(primary, score = first_score))
  worst <- function(of_first, of_second) {
    transform(primary, score = ifelse(unable, ifelse(source == first, of_first, of_second), score))
  }
  if (any(primary$unable)) {
    linear("\"cannot tell\" as 0 of the first, 5 of the other", worst(0, 5))
    linear("\"cannot tell\" as 5 of the first, 0 of the other", worst(5, 0))
  }

  cat("\nCumulative link mixed model (scores as a rank order), log odds of a higher score, 95 % Wald interval\n")
  rows <- prepare(primary[!is.na(primary$score), ])
  rows$score <- ordered(rows$score)
  model <- as.formula(paste("score ~ source +", random_effects(rows)))
  fit <- tryCatch(clmm(model, data = rows), error = function(e) e)
  if (inherits(fit, "error")) {
    cat("not fitted:", conditionMessage(fit), "\n")
    return(invisible(NULL))
  }
  name <- grep("^source", rownames(coef(summary(fit))), value = TRUE)
  found <- coef(summary(fit))[name, ]
  half <- qnorm(0.975) * found[["Std. Error"]]
  line("primary", found[["Estimate"]], found[["Estimate"]] - half, found[["Estimate"]] + half)
}

# The log odds that a decided answer is for the first source: logistic mixed model with pairs and scorers random. With
# three or more sources and all their pairs, BradleyTerry2::BTm fits decided answers; Davidson's model, which has ties
# as the report has, is in prefmod and in gnm (Turner & Firth 2012, J. Statistical Software 48(9)).
preferences <- function() {
  rows <- answers[answers$kind == "pair" & answers$use == "result" & !answers$excluded & !is.na(answers$preference), ]
  met <- (rows$left_source == first & rows$right_source == second) |
    (rows$left_source == second & rows$right_source == first)
  rows <- rows[met, ]
  cat(sprintf("preference for %s over %s\n\n", first, second))
  print(table(answer = ifelse(is.na(rows$preferred_source), rows$preference, rows$preferred_source)))
  rows <- rows[!is.na(rows$preferred_source), ]
  rows$won <- as.integer(rows$preferred_source == first)
  if (length(unique(rows$won)) < 2) {
    cat("every decided answer is the same: no model can be fitted\n")
    return(invisible(NULL))
  }
  rows$pair <- factor(paste(pmin(rows$left_item, rows$right_item), pmax(rows$left_item, rows$right_item)))
  rows$scorer <- factor(rows$scorer)
  n <- nrow(rows)
  terms <- c(
    if (nlevels(rows$pair) > 1 && nlevels(rows$pair) < n) "(1 | pair)",
    if (nlevels(rows$scorer) > 1 && nlevels(rows$scorer) < n) "(1 | scorer)"
  )
  if (is.null(terms)) {
    fit <- glm(won ~ 1, data = rows, family = binomial)
  } else {
    model <- as.formula(paste("won ~ 1 +", paste(terms, collapse = " + ")))
    fit <- suppressMessages(glmer(model, data = rows, family = binomial))
  }
  found <- coef(summary(fit))[1, ]
  ends <- found[["Estimate"]] + c(-1, 1) * qnorm(0.975) * found[["Std. Error"]]
  cat(sprintf("\n%d of %d decided answers for %s\n", sum(rows$won), n, first))
  cat("Logistic mixed model, 95 % Wald interval, for a pair and a scorer in the middle\n")
  line("log odds", found[["Estimate"]], ends[1], ends[2])
  line("probability", plogis(found[["Estimate"]]), plogis(ends[1]), plogis(ends[2]))
}

if (kind == "scores") scores() else preferences()
